import { skillsHomeAt } from './skills-home-at.ts'

// Runs one operation on the skills of a home folder: HOME OPERATION JSON. Prints what it answers.

const [home = '', operation = '', json = '{}'] = process.argv.slice(2)
try {
  process.stdout.write(
    JSON.stringify((await skillsHomeAt(home).operate(operation, JSON.parse(json))) ?? null),
  )
} catch (error) {
  process.stderr.write(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
}
