import type { Command } from 'clipanion'
export type CommandClass = typeof Command
