/** One figure of a bench. */
export interface Row {
  name: string
  value: number
  unit: string
  note?: string
}

export function printRows(title: string, rows: Row[]): void {
  const width = Math.max(...rows.map(({ name }) => name.length))
  console.log(`\n${title}`)
  for (const { name, value, unit, note } of rows) {
    const shown = Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
    console.log(`  ${name.padEnd(width)}  ${shown.padStart(12)} ${unit}${note ? `  (${note})` : ''}`)
  }
}
