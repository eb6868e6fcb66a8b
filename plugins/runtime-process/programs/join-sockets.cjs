// Part of other programs: `joinSockets(a, b)` forwards bytes between them in both directions.
globalThis.joinSockets = (a, b) => {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ]) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroySoon())
    from.pipe(to)
  }
}
