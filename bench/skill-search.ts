/**
 * Measures search by name in catalogues of 50,000 and 200,000 skills: exact names, prefixes, substrings, typos and swapped words,
 * each derived from a skill that must be among the first five results. Compared with MiniSearch, FlexSearch, Orama, uFuzzy and
 * pg_trgm, with the same names, aliases and queries. The best of three runs of each query counts; building is measured in CPU time
 * of the thread. Finally measures prefixes of three to eight letters in the built-in catalogue, the most common query.
 */
import { buildLabels, type SkillEntry } from '../server/catalogue/index/labels/labels.ts'
import { buildNearWords } from '../server/catalogue/index/labels/near-words.ts'
import { buildPostings } from '../server/catalogue/index/labels/postings.ts'
import { buildSkillIndex, buildSkillIndexSync } from '../server/catalogue/index/skill-index.ts'
import { runSync } from '../server/catalogue/index/text/time-slicing.ts'
import { tokenize } from '../server/catalogue/index/text/tokens.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  percentile,
  runFromCommandLine,
  skippedRow,
} from './support/benchmark.ts'
import { builtIn, bytesInUse, catalogue, hasSharedData, randomNumbers } from './support/skill-catalogues.ts'
import { type Finder, peers } from './support/skill-search-peers.ts'

const MAX_RESULTS = 5

interface Sizes {
  catalogues: number[]
  queries: number
  peerQueries: number
  prefixRounds: number
  /** At most this many of the prefixes are measured. */
  prefixes: number
}

const FULL: Sizes = {
  catalogues: [50_000, 200_000],
  queries: 1000,
  peerQueries: 60,
  prefixRounds: 20,
  prefixes: Number.POSITIVE_INFINITY,
}
const SHORT: Sizes = { catalogues: [3_000], queries: 50, peerQueries: 3, prefixRounds: 1, prefixes: 500 }

const GOALS: Record<string, string> = {
  median: 'target: at most 0.05',
  '99th percentile': 'target: at most 0.5',
  found: 'target: at least 98',
}

interface Query {
  text: string
  /** The words of the skill's name, separated by spaces. */
  expected: string
}

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const rows: BenchmarkRow[] = []
  for (const size of sizes.catalogues) {
    const entries = catalogue(size)
    const label = size.toLocaleString('en')
    buildSkillIndexSync(entries.slice(0, 2000)) // warm up
    const bytesBefore = await bytesInUse()
    const cpuBefore = threadCpuMs()
    const index = buildSkillIndexSync(entries)
    const buildMs = threadCpuMs() - cpuBefore
    const bytes = (await bytesInUse()) - bytesBefore
    const labels = entries.reduce((sum, entry) => sum + 1 + entry.aliases.length, 0).toLocaleString('en')
    rows.push({
      name: `${label}: synchronous build`,
      value: buildMs / 1000,
      unit: 's',
      note: `search, match and extract, ${labels} names and aliases`,
    })
    const searchCpuBefore = threadCpuMs()
    buildForSearch(entries)
    const searchSeconds = (threadCpuMs() - searchCpuBefore) / 1000
    rows.push({
      name: `${label}: build of search alone`,
      value: searchSeconds,
      unit: 's',
      note: 'target: under 1 at 50,000',
    })
    rows.push({ name: `${label}: memory`, value: bytes / 1e6, unit: 'MB', note: 'target: under 30 at 50,000' })
    rows.push({
      name: `${label}: longest pause of a time-sliced build`,
      value: await longestPause(entries),
      unit: 'ms',
    })

    const kinds = createQueries(entries, sizes.queries)
    const ours: Finder = (query) => index.search(query, { limit: MAX_RESULTS }).skills.map(({ name }) => name)
    for (const [kind, queries] of Object.entries(kinds))
      rows.push(...(await measure(`${label}: ${kind}`, ours, queries, GOALS)))
    if (size > 50_000) continue
    for (const { name, load } of peers) {
      const peer = await load(entries)
      if (!peer) {
        rows.push(skippedRow(`${label}: ${name}`, `${name} is not installed`))
        continue
      }
      for (const [kind, queries] of Object.entries(kinds))
        rows.push(...(await measure(`${label}: ${name}, ${kind}`, peer.find, queries.slice(0, sizes.peerQueries))))
      await peer.close?.()
    }
  }
  rows.push(measurePrefixes(sizes))
  if (!hasSharedData)
    rows.push({
      name: 'ESCO and O*NET',
      value: 0,
      unit: 'skills',
      note: 'shared data is missing: generated names instead',
    })
  return rows
}

async function measure(
  name: string,
  find: Finder,
  queries: Query[],
  goals: Record<string, string> = {},
): Promise<BenchmarkRow[]> {
  for (const { text } of queries.slice(0, 300)) await find(text)
  const times: number[] = []
  let found = 0
  for (const { text, expected } of queries) {
    // The best of three runs excludes interruptions by other processes.
    let best = Number.POSITIVE_INFINITY
    let names: readonly string[] = []
    for (let run = 0; run < 3; run++) {
      const startedAt = performance.now()
      const result = find(text)
      names = result instanceof Promise ? await result : result
      best = Math.min(best, performance.now() - startedAt)
    }
    times.push(best)
    if (names.some((name) => nameKey(name) === expected)) found++
  }
  return [
    { name: `${name}, median`, value: median(times), unit: 'ms', note: goals.median },
    {
      name: `${name}, 99th percentile`,
      value: percentile(times, 0.99),
      unit: 'ms',
      note: goals['99th percentile'],
    },
    ...(goals.median ? [{ name: `${name}, slowest`, value: Math.max(...times), unit: 'ms' }] : []),
    { name: `${name}, found`, value: (100 * found) / queries.length, unit: '%', note: goals.found },
  ]
}

/** Measures every prefix of the words of the built-in names, once per round; the best round counts. */
function measurePrefixes({ prefixRounds, prefixes: maxPrefixes }: Sizes): BenchmarkRow {
  const entries = builtIn()
  const index = buildSkillIndexSync(entries)
  const words = entries.flatMap(({ name }) => tokenize(name)).filter((word) => /^[a-z]{3,}$/.test(word))
  const all = new Set(words.flatMap((word) => [3, 4, 5, 6, 7, 8].map((letters) => word.slice(0, letters))))
  const prefixes = [...all].slice(0, maxPrefixes)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < prefixRounds; round++) {
    const startedAt = performance.now()
    for (const text of prefixes) index.search(text)
    best = Math.min(best, performance.now() - startedAt)
  }
  const note = `${prefixes.length.toLocaleString('en')} prefixes, ${entries.length.toLocaleString('en')} skills`
  return { name: 'prefix of 3 to 8 letters, average', value: best / prefixes.length, unit: 'ms', note }
}

function buildForSearch(entries: SkillEntry[]): void {
  const { labels, entries: sorted } = runSync(buildLabels(entries))
  runSync(buildPostings(labels, sorted))
  runSync(buildNearWords(labels.vocabulary))
}

/** Returns the CPU time of this thread in milliseconds, which does not depend on other load. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Returns the longest CPU time between two turns of the event loop, in milliseconds. */
async function longestPause(entries: SkillEntry[]): Promise<number> {
  let longest = 0
  let last = threadCpuMs()
  let building = true
  const watch = () => {
    const now = threadCpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (building) setImmediate(watch)
  }
  setImmediate(watch)
  await buildSkillIndex(entries)
  building = false
  return longest
}

const nameKey = (name: string) => tokenize(name).join(' ')

/** Creates queries of each kind. Prefixes and substrings are used only if at most five names contain them. */
function createQueries(entries: SkillEntry[], count: number): Record<string, Query[]> {
  const random = randomNumbers(5)
  const countStartingWith = prefixCounter(entries)
  const countContaining = substringCounter(entries)
  const kinds: Record<string, (name: string) => string | undefined> = {
    exact: (name) => name,
    prefix: (name) => {
      const text = name.slice(0, Math.max(4, Math.floor(name.length * 0.7)))
      return countStartingWith(text) <= MAX_RESULTS ? text : undefined
    },
    'mid-word': (name) => {
      const text = name.slice(2, -2)
      return name.length > 9 && countContaining(text) <= MAX_RESULTS ? text : undefined
    },
    typo: (name) => misspell(name, random),
    swapped: (name) => {
      const words = name.split(' ')
      return words.length > 1 ? [...words.slice(1), words[0]].join(' ') : undefined
    },
  }
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, derive]) => {
      const queries: Query[] = []
      while (queries.length < count) {
        const { name } = entries[Math.floor(random() * entries.length)]!
        const text = derive(name)
        if (text && text.length >= 3 && text.length <= 100) queries.push({ text, expected: nameKey(name) })
      }
      return [kind, queries]
    }),
  )
}

/** Returns a function that counts the names that start with a text. */
function prefixCounter(entries: SkillEntry[]): (text: string) => number {
  const names = entries.map(({ name }) => name.toLowerCase()).sort()
  const bound = (text: string) => {
    let low = 0
    let high = names.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (names[middle]! < text) low = middle + 1
      else high = middle
    }
    return low
  }
  return (text) => bound(`${text.toLowerCase()}\uffff`) - bound(text.toLowerCase())
}

/** Returns a function that counts the names that contain a text, up to one more than MAX_RESULTS. */
function substringCounter(entries: SkillEntry[]): (text: string) => number {
  const names = entries.map(({ name }) => name.toLowerCase()).join('\n')
  return (text) => {
    const substring = text.toLowerCase()
    let count = 0
    for (let at = names.indexOf(substring); at >= 0 && count <= MAX_RESULTS; at = names.indexOf(substring, at + 1))
      count++
    return count
  }
}

/** Makes one edit in a word of 4 to 7 letters, or one or two in a longer word. */
function misspell(name: string, random: () => number): string | undefined {
  const words = name.split(' ')
  const candidates = words.flatMap((word, i) => (/^[a-z]{4,}$/i.test(word) ? [i] : []))
  if (candidates.length === 0) return undefined
  const index = candidates[Math.floor(random() * candidates.length)]!
  let word = words[index]!
  for (let edits = word.length >= 8 && random() < 0.5 ? 2 : 1; edits > 0; edits--) {
    const at = Math.floor(random() * (word.length - 1))
    const letter = 'abcdefghijklmnopqrstuvwxyz'[Math.floor(random() * 26)]!
    const [before, after] = [word.slice(0, at), word.slice(at)]
    const edit = Math.floor(random() * 4)
    if (edit === 0) word = before + letter + after.slice(1)
    else if (edit === 1) word = before + letter + after
    else if (edit === 2) word = before + after.slice(1)
    else word = before + after[1] + after[0] + after.slice(2)
  }
  words[index] = word
  return words.join(' ')
}

if (import.meta.main) await runFromCommandLine('skill-search', run)
