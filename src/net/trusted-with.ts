import { getCACertificates } from 'node:tls'

/** What is trusted in TLS with more certificates (PEM): these besides those of the system. */
export const trustedWith = (ca: string): string[] => [...getCACertificates('default'), ca]
