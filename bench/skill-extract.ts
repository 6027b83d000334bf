/**
 * All skills in a text, in megabytes of text a second against 50,000 names and aliases: the whole answer, with offsets, overlaps,
 * negation and scores. Aho-Corasick packages look for the same 50,000 texts in the same run and only list what they find. Prints
 * a table, or JSON with --json.
 */
import type { SkillEntry } from '../server/catalogue/index/labels/labels.ts'
import { buildSkillIndexAtOnce } from '../server/catalogue/index/skill-index.ts'
import { printRows, type Row } from './support/rows.ts'
import { bytesInUse, catalogue, hasSharedData, peer, randomNumbers, sharedFile } from './support/skill-catalogues.ts'

const LABELS = 50_000
const TEXT_LENGTH = 50_000
const TEXTS = 20
const ROUNDS = 12
/** In its turn ours reads the texts so often, which takes about as long as a package takes to read them once. */
const OURS_A_ROUND = 5

export async function run(): Promise<Row[]> {
  const entries = withLabels(LABELS)
  const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases])
  const texts = advertisements(labels)

  const before = await bytesInUse()
  const index = buildSkillIndexAtOnce(entries)
  const held = ((await bytesInUse()) - before) / 1e6
  const packages = await peers(labels)
  const [ours, ...theirs] = takeTurns(texts, [
    (text) => index.extract(text, 100),
    ...packages.map(({ search }) => search),
  ])
  const rows: Row[] = [
    {
      name: 'extract',
      value: ours!,
      unit: 'MB/s',
      note: `${labels.length.toLocaleString('en')} names and aliases; aim: at least 30`,
    },
    {
      name: 'extract, one text of 50,000 characters',
      value: slowest(texts, index),
      unit: 'ms',
      note: 'the slowest of 20, best of 15',
    },
    { name: 'memory', value: held, unit: 'MB', note: 'with search and match' },
    ...packages.map(({ name }, i) => ({ name, value: theirs[i]!, unit: 'MB/s', note: 'mentions only' })),
  ]
  if (packages.length < PACKAGES.length)
    rows.push({ name: 'packages that are not installed', value: PACKAGES.length - packages.length, unit: '' })
  if (packages.length > 0)
    rows.push({
      name: 'against the best of them',
      value: ours! / Math.max(...theirs),
      unit: 'times',
      note: 'aim: at least 4',
    })
  if (!hasSharedData)
    rows.push({ name: 'real sentences', value: 0, unit: 'MB', note: 'not there: made of names and small words' })
  return rows
}

const PACKAGES = ['modern-ahocorasick', 'ahocorasick']

type Reader = (text: string) => unknown

/** The packages that are installed. */
async function peers(labels: string[]): Promise<{ name: string; search: Reader }[]> {
  const patterns = [...new Set(labels.map((label) => label.toLowerCase()))]
  const found: { name: string; search: Reader }[] = []
  for (const name of PACKAGES) {
    // biome-ignore lint/suspicious/noExplicitAny: the packages are optional, so their types cannot be relied on
    const Package = (await peer<any>(name))?.default
    const matcher = Package && new Package(patterns)
    if (matcher) found.push({ name, search: (text) => matcher.search(text.toLowerCase()) })
  }
  return found
}

/** Megabytes a second of each in its best round. In turns, so that whatever else the machine does falls on all alike. */
function takeTurns(texts: string[], readers: Reader[]): number[] {
  const megabytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6
  const best = readers.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, read] of readers.entries())
      for (let time = 0; time < (i === 0 ? OURS_A_ROUND : 1); time++)
        best[i] = Math.min(
          best[i]!,
          milliseconds(() => texts.map(read)),
        )
  return best.map((ms) => (megabytes / ms) * 1000)
}

function slowest(texts: string[], index: { extract(text: string, limit: number): unknown }): number {
  const quickest = (text: string) =>
    Math.min(...Array.from({ length: 15 }, () => milliseconds(() => index.extract(text, 100))))
  return Math.max(...texts.map(quickest))
}

function milliseconds(work: () => unknown): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

/** Skills of the real catalogues until they have so many names and aliases together. */
function withLabels(count: number): SkillEntry[] {
  const random = randomNumbers(3)
  const entries: SkillEntry[] = []
  let labels = 0
  for (const entry of catalogue(60_000).sort(() => random() - 0.5)) {
    const aliases = entry.aliases.slice(0, Math.max(0, count - labels - 1))
    if (labels >= count) break
    entries.push({ ...entry, aliases })
    labels += 1 + aliases.length
  }
  return entries
}

/** Texts of the greatest length the API takes: sentences of advertisements, with a skill of the catalogue now and then. */
function advertisements(labels: string[]): string[] {
  const random = randomNumbers(9)
  const sentences = hasSharedData
    ? sharedFile('eval/skillspan_dev.jsonl')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { tokens: string[] }).tokens.join(' '))
    : [
        'We are looking for someone who can',
        'you will work with our team on',
        'at least two years of experience in',
        'and a good hand for',
      ]
  return Array.from({ length: TEXTS }, () => {
    let text = ''
    while (text.length < TEXT_LENGTH) {
      const pick = random() < 0.8 ? sentences : labels
      text += `${pick[Math.floor(random() * pick.length)]}. `
    }
    return text.slice(0, TEXT_LENGTH)
  })
}

if (import.meta.main) {
  const rows = await run()
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
  else printRows('skill-extract', rows)
}
