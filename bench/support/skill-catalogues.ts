import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { SkillEntry } from '../../server/catalogue/index/labels/labels.ts'

/** Catalogues to measure with: our own, ESCO and O*NET where their files are, and generated names on top. */

const root = new URL('../../', import.meta.url)
const shared = new URL('../../../shared/data/', import.meta.url)

export const hasSharedData = existsSync(new URL('esco/skills_en.csv', shared))

export function sharedFile(path: string): string {
  return readFileSync(new URL(path, shared), 'utf8').replace(/^\uFEFF/, '')
}

export function parseCsv(text: string): Record<string, string>[] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (quoted) {
      if (c !== '"') cell += c
      else if (text[i + 1] === '"') cell += text[++i]
      else quoted = false
    } else if (c === '"') quoted = true
    else if (c === ',' || c === '\n') {
      row.push(cell.endsWith('\r') ? cell.slice(0, -1) : cell)
      cell = ''
      if (c === '\n') {
        if (row.some(Boolean)) rows.push(row)
        row = []
      }
    } else cell += c
  }
  if (cell || row.length) rows.push([...row, cell])
  const [header, ...body] = rows
  return body.map((cells) => Object.fromEntries(header!.map((name, i) => [name, cells[i] ?? ''])))
}

/** The catalogue that ships with the product: `sk_1 | Name | v | description | alias; alias`, under `## Sub-skill | ss_1`. */
export function builtIn(): SkillEntry[] {
  const folder = new URL('data/skills/', root)
  if (!existsSync(folder)) return []
  let master = { number: 0 }
  let sub: SkillEntry['sub']
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .flatMap((file) => readFileSync(new URL(file, folder), 'utf8').split('\n'))
    .flatMap((line) => {
      const heading = /^(#+) (.+) \| .._(\d+)$/.exec(line)
      if (heading?.[1] === '#') master = { number: Number(heading[3]) }
      else if (heading) sub = { number: Number(heading[3]), name: heading[2]!, master }
      const skill = /^sk_(\d+) \| (.+?) \| (\S) \| .*? \|(.*)$/.exec(line)
      if (!skill) return []
      const [, number, name, flag, aliases] = skill
      return { number: Number(number), name: name!, aliases: split(aliases!, ';'), verifiable: flag === 'v', sub: sub! }
    })
}

export function esco(first = 1_000_000): SkillEntry[] {
  return parseCsv(sharedFile('esco/skills_en.csv')).map((row, i) => ({
    number: first + i,
    name: row.preferredLabel!,
    aliases: split(row.altLabels!, '\n'),
  }))
}

export function onet(first = 2_000_000): SkillEntry[] {
  const names = new Set<string>()
  for (const [file, column] of [
    ['Technology Skills.txt', 1],
    ['Tools Used.txt', 1],
    ['DWA Reference.txt', 3],
  ] as const) {
    for (const line of sharedFile(`onet/${file}`).split('\n').slice(1)) {
      const name = line.split('\t')[column]?.trim()
      if (name) names.add(name)
    }
  }
  return [...names].map((name, i) => ({ number: first + i, name, aliases: [] }))
}

/** Names of two to four words, one of them made of syllables, so that the vocabulary grows with the catalogue. */
export function generated(count: number, first = 3_000_000): SkillEntry[] {
  const random = randomNumbers(11)
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!
  const syllables =
    'ba ber cal cor dan del dri eng fal fer gan gor hel ing jor kal lam lin mar men nor pal per quil ran rol sen sor tal ter ul van vel wir yan zor'.split(
      ' ',
    )
  const verbs =
    'operate repair assemble inspect install maintain calibrate clean pack weld paint mount test adjust load design plan document'.split(
      ' ',
    )
  const nouns =
    'machine panel pump boiler loom press conveyor motor valve turbine sensor frame cabinet engine line tank vehicle tool system network'.split(
      ' ',
    )
  const names = new Set<string>()
  while (names.size < count) {
    const made = Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(syllables)).join('')
    names.add([...(random() < 0.7 ? [pick(verbs)] : []), made, ...(random() < 0.8 ? [pick(nouns)] : [])].join(' '))
  }
  return [...names].map((name, i) => ({ number: first + i, name, aliases: [] }))
}

/** A catalogue of the given size: everything real that is there, then generated names. */
export function catalogue(size: number): SkillEntry[] {
  const real = [...builtIn(), ...(hasSharedData ? [...esco(), ...onet()] : [])].slice(0, size)
  return [...real, ...generated(size - real.length)]
}

/** Random numbers that are the same in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Bytes held after a collection; what buffers held is given back a turn or two later. */
export async function bytesInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let time = 0; time < 4; time++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** A package that is only there to be compared with. */
export async function peer<T>(name: string): Promise<T | undefined> {
  try {
    return (await import(name)) as T
  } catch {
    return undefined
  }
}

function split(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean)
}
