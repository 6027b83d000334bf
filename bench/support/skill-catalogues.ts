import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { SkillEntry } from '../../server/catalogue/index/labels/labels.ts'

const root = new URL('../../', import.meta.url)
/** The folder with ESCO, O*NET and the evaluation sets, which are not part of the repository. */
const sharedFolder = new URL('../../../shared/data/', import.meta.url)

export const hasSharedData = existsSync(new URL('esco/skills_en.csv', sharedFolder))

export function readSharedFile(path: string): string {
  return readFileSync(new URL(path, sharedFolder), 'utf8').replace(/^\uFEFF/, '')
}

export function parseCsv(text: string): Record<string, string>[] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (quoted) {
      if (character !== '"') cell += character
      else if (text[i + 1] === '"') cell += text[++i]
      else quoted = false
    } else if (character === '"') quoted = true
    else if (character === ',' || character === '\n') {
      row.push(cell.endsWith('\r') ? cell.slice(0, -1) : cell)
      cell = ''
      if (character === '\n') {
        if (row.some(Boolean)) rows.push(row)
        row = []
      }
    } else cell += character
  }
  if (cell || row.length) rows.push([...row, cell])
  const [header, ...body] = rows
  return body.map((cells) => Object.fromEntries(header!.map((name, i) => [name, cells[i] ?? ''])))
}

/** Reads the built-in skills. Each line is `sk_1 | Name | v | description | alias; alias`, under `## Sub-skill | ss_1`. */
export function builtInSkills(): SkillEntry[] {
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
      return {
        number: Number(number),
        name: name!,
        aliases: splitList(aliases!, ';'),
        isPreferred: flag === 'v',
        sub: sub!,
      }
    })
}

export function escoSkills(firstNumber = 1_000_000): SkillEntry[] {
  return parseCsv(readSharedFile('esco/skills_en.csv')).map((row, i) => ({
    number: firstNumber + i,
    name: row.preferredLabel!,
    aliases: splitList(row.altLabels!, '\n'),
  }))
}

function onetSkills(firstNumber = 2_000_000): SkillEntry[] {
  const names = new Set<string>()
  for (const [file, column] of [
    ['Technology Skills.txt', 1],
    ['Tools Used.txt', 1],
    ['DWA Reference.txt', 3],
  ] as const) {
    for (const line of readSharedFile(`onet/${file}`).split('\n').slice(1)) {
      const name = line.split('\t')[column]?.trim()
      if (name) names.add(name)
    }
  }
  return [...names].map((name, i) => ({ number: firstNumber + i, name, aliases: [] }))
}

/**
 * Generates skills with names of one to three words. One word is composed of syllables, so that the vocabulary grows with the
 * catalogue.
 */
function generateSkills(count: number, firstNumber = 3_000_000): SkillEntry[] {
  const random = randomNumbers(11)
  const pickRandom = <T>(words: readonly T[]) => words[Math.floor(random() * words.length)]!
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
    const inventedWord = Array.from({ length: 2 + Math.floor(random() * 2) }, () => pickRandom(syllables)).join('')
    names.add(
      [
        ...(random() < 0.7 ? [pickRandom(verbs)] : []),
        inventedWord,
        ...(random() < 0.8 ? [pickRandom(nouns)] : []),
      ].join(' '),
    )
  }
  return [...names].map((name, i) => ({ number: firstNumber + i, name, aliases: [] }))
}

/** Returns a catalogue with this number of skills: the available real skills, then generated ones. */
export function createCatalogue(size: number): SkillEntry[] {
  const skills = builtInSkills()
  if (hasSharedData && skills.length < size) skills.push(...escoSkills(), ...onetSkills())
  return [...skills.slice(0, size), ...generateSkills(Math.max(0, size - skills.length))]
}

/** Returns a random number generator that yields the same numbers in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Returns the memory in use in bytes. Collects garbage several times, because the memory of buffers is freed later than objects. */
export async function bytesInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  for (let run = 0; run < 4; run++) {
    collectGarbage()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Imports a package that is used only for comparison; returns undefined if it is not installed. */
export async function importOptional<T>(name: string): Promise<T | undefined> {
  try {
    return (await import(name)) as T
  } catch {
    return undefined
  }
}

function splitList(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean)
}
