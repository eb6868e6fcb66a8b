import { describe } from 'vitest'
import { isolationSuite } from './isolation-suite.ts'
import { isolationWorld } from './isolation-world.ts'
import { needsPlace, PLACES } from './places-to-run.ts'

// A real server in a real container (or sandbox) that tries to get out: fixtures/isolation/server.mjs.

describe.each(PLACES)('on %s', { timeout: 120_000 }, place =>
  isolationSuite(place, {
    id: place,
    open: () => isolationWorld(place),
    needs: context => needsPlace(context, place),
  }),
)
