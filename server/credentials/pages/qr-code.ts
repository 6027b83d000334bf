/** Returns a QR code as inline SVG. The colours come from the style sheet, so that it works in dark mode and in print. */
export async function qrCodeSvg(text: string, label: string): Promise<string> {
  const modules = await qrCodeModules(text)
  const size = modules.length
  const path = modules.map((row, y) =>
    darkRuns(row)
      .map(([x, width]) => `M${x} ${y}h${width}v1h-${width}z`)
      .join(''),
  )
  return `<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path d="${path.join('')}"/></svg>`
}

/** Returns the modules of a QR code with a quiet zone of two modules: true is dark. */
export async function qrCodeModules(text: string): Promise<boolean[][]> {
  const { encodeQR } = await import('qr')
  return encodeQR(text, 'raw', { ecc: 'medium', border: 2 })
}

/** Returns the start and the width of each run of dark modules in a row. */
function darkRuns(row: boolean[]): [number, number][] {
  const runs: [number, number][] = []
  row.forEach((dark, x) => {
    if (!dark) return
    const run = runs.at(-1)
    if (run && run[0] + run[1] === x) run[1]++
    else runs.push([x, 1])
  })
  return runs
}
