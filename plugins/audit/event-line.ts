import { printableJson } from '../../src/lib/printable.ts'

/** An event as one line of JSON, the same for all destinations: what could steer a terminal is escaped. */
export const toLine = (event: object): string => printableJson(JSON.stringify(event))
