/** Shows the progress of a long task: a bar on a terminal, otherwise a line every few seconds. */
export interface Progress {
  update(done: number, total: number): void
  end(): void
}

const BAR_WIDTH = 30
const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 2000

export function showProgress(
  label: string,
  stream: NodeJS.WriteStream = process.stderr,
  clock: () => number = () => performance.now(),
): Progress {
  const bar = stream.isTTY === true
  const interval = bar ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS
  let shownAt = bar ? Number.NEGATIVE_INFINITY : clock()
  let drawn = false
  return {
    update(done, total) {
      const now = clock()
      if (now - shownAt < interval && done < total) return
      shownAt = now
      const counts = `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}`
      if (!bar) stream.write(`${label}: ${counts}\n`)
      else {
        const full = Math.round((BAR_WIDTH * done) / Math.max(total, 1))
        stream.write(`\r${label} ${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${counts}\x1b[K`)
        drawn = true
      }
    },
    end() {
      if (drawn) stream.write('\r\x1b[K')
      drawn = false
    },
  }
}
