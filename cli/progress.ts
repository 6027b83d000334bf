/** How far a long piece of work is: a bar that is drawn over on a terminal, now and then a line elsewhere. */
export interface Progress {
  at(done: number, of: number): void
  end(): void
}

const WIDTH = 30
const REDRAW = 100
const LINE_EVERY = 2000

export function showProgress(
  label: string,
  stream: NodeJS.WriteStream = process.stderr,
  clock: () => number = () => performance.now(),
): Progress {
  const bar = stream.isTTY === true
  const pause = bar ? REDRAW : LINE_EVERY
  let shownAt = bar ? Number.NEGATIVE_INFINITY : clock()
  let drawn = false
  return {
    at(done, of) {
      const now = clock()
      if (now - shownAt < pause && done < of) return
      shownAt = now
      const counts = `${done.toLocaleString('en-US')} of ${of.toLocaleString('en-US')}`
      if (!bar) stream.write(`${label}: ${counts}\n`)
      else {
        const full = Math.round((WIDTH * done) / Math.max(of, 1))
        stream.write(`\r${label} ${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${counts}\x1b[K`)
        drawn = true
      }
    },
    end() {
      if (drawn) stream.write('\r\x1b[K')
      drawn = false
    },
  }
}
