/**
 * Search by name at 50,000 and 200,000 skills, query by query: exact names, beginnings, pieces from the middle, typos and
 * swapped words, each made from a skill that then has to be among the first five. MiniSearch, FlexSearch, Orama and uFuzzy get
 * the same names, aliases and queries in the same run. Every query is timed three times; building counts what the thread worked.
 * At the end what a beginning of three to eight letters costs in the built-in catalogue, by itself the commonest query of all.
 * Prints a table, or JSON with --json.
 */
import { buildLabels, type SkillEntry } from '../server/catalogue/index/labels/labels.ts'
import { buildNearWords } from '../server/catalogue/index/labels/near-words.ts'
import { buildPostings } from '../server/catalogue/index/labels/postings.ts'
import { buildSkillIndex, buildSkillIndexAtOnce } from '../server/catalogue/index/skill-index.ts'
import { runAtOnce } from '../server/catalogue/index/text/time-slicing.ts'
import { wordsOf } from '../server/catalogue/index/text/tokens.ts'
import { printRows, type Row } from './support/rows.ts'
import { builtIn, bytesInUse, catalogue, hasSharedData, randomNumbers } from './support/skill-catalogues.ts'
import { peers } from './support/skill-search-peers.ts'

const QUERIES = 1000
const PEER_QUERIES = 60
const FIRST = 5

const AIMS: Record<string, string> = {
  median: 'aim: at most 0.05',
  '99th percentile': 'aim: at most 0.5',
  found: 'aim: at least 98',
}

export interface Query {
  text: string
  /** What the skill is called, as words. */
  wanted: string
}

/** Names of the first skills that a search finds. */
export type Finder = (query: string) => readonly string[] | Promise<readonly string[]>

export async function run(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of [50_000, 200_000]) {
    const entries = catalogue(size)
    const label = size.toLocaleString('en')
    buildSkillIndexAtOnce(entries.slice(0, 2000))
    const before = await bytesInUse()
    const began = worked()
    const index = buildSkillIndexAtOnce(entries)
    const took = worked() - began
    const held = (await bytesInUse()) - before
    const words = `search, match and extract, ${entries.reduce((sum, entry) => sum + 1 + entry.aliases.length, 0).toLocaleString('en')} names and aliases`
    rows.push({ name: `${label}: build at once`, value: took / 1000, unit: 's', note: words })
    const forSearch = worked()
    buildForSearch(entries)
    const tookSearch = (worked() - forSearch) / 1000
    rows.push({ name: `${label}: of it for search`, value: tookSearch, unit: 's', note: 'aim: under 1 at 50,000' })
    rows.push({ name: `${label}: memory`, value: held / 1e6, unit: 'MB', note: 'aim: under 30 at 50,000' })
    rows.push({ name: `${label}: longest pause of a build in slices`, value: await longestPause(entries), unit: 'ms' })

    const kinds = makeQueries(entries)
    const ours: Finder = (query) => index.search(query, { limit: FIRST }).skills.map(({ name }) => name)
    for (const [kind, queries] of Object.entries(kinds))
      rows.push(...(await measure(`${label}: ${kind}`, ours, queries.slice(0, QUERIES), AIMS)))
    if (size > 50_000) continue
    for (const { name, load } of peers) {
      const find = await load(entries)
      if (!find) rows.push({ name: `${label}: ${name}`, value: Number.NaN, unit: '', note: 'not installed' })
      else
        for (const [kind, queries] of Object.entries(kinds))
          rows.push(...(await measure(`${label}: ${name}, ${kind}`, find, queries.slice(0, PEER_QUERIES))))
    }
  }
  rows.push(costOfBeginnings())
  if (!hasSharedData)
    rows.push({ name: 'ESCO and O*NET', value: 0, unit: 'skills', note: 'not there: generated names instead' })
  return rows
}

async function measure(
  name: string,
  find: Finder,
  queries: Query[],
  aims: Record<string, string> = {},
): Promise<Row[]> {
  for (const { text } of queries.slice(0, 300)) await find(text)
  const times: number[] = []
  let found = 0
  for (const { text, wanted } of queries) {
    // The best of three: the query's own cost, not that of whoever else wants the processor.
    let best = Number.POSITIVE_INFINITY
    let names: readonly string[] = []
    for (let time = 0; time < 3; time++) {
      const began = performance.now()
      const answer = find(text)
      names = answer instanceof Promise ? await answer : answer
      best = Math.min(best, performance.now() - began)
    }
    times.push(best)
    if (names.some((name) => nameKey(name) === wanted)) found++
  }
  times.sort((a, b) => a - b)
  return [
    { name: `${name}, median`, value: times[times.length >> 1]!, unit: 'ms', note: aims.median },
    {
      name: `${name}, 99th percentile`,
      value: times[Math.floor(times.length * 0.99)]!,
      unit: 'ms',
      note: aims['99th percentile'],
    },
    ...(aims.median ? [{ name: `${name}, slowest`, value: times.at(-1)!, unit: 'ms' }] : []),
    { name: `${name}, found`, value: (100 * found) / queries.length, unit: '%', note: aims.found },
  ]
}

/** What is typed on the way to the words of the built-in names, each once in a round; the best round counts. */
function costOfBeginnings(): Row {
  const entries = builtIn()
  const index = buildSkillIndexAtOnce(entries)
  const words = entries.flatMap(({ name }) => wordsOf(name)).filter((word) => /^[a-z]{3,}$/.test(word))
  const begun = new Set(words.flatMap((word) => [3, 4, 5, 6, 7, 8].map((letters) => word.slice(0, letters))))
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 20; round++) {
    const began = performance.now()
    for (const text of begun) index.search(text)
    best = Math.min(best, performance.now() - began)
  }
  const note = `${begun.size.toLocaleString('en')} of them in ${entries.length.toLocaleString('en')} skills`
  return { name: 'a beginning of 3 to 8 letters, on average', value: best / begun.size, unit: 'ms', note }
}

function buildForSearch(entries: SkillEntry[]): void {
  const { labels, entries: sorted } = runAtOnce(buildLabels(entries))
  runAtOnce(buildPostings(labels, sorted))
  runAtOnce(buildNearWords(labels.vocabulary))
}

/** Milliseconds that this thread has worked, whoever else wants the processor. */
function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The most that the thread worked between two turns of the event loop, in milliseconds. */
async function longestPause(entries: SkillEntry[]): Promise<number> {
  let longest = 0
  let last = worked()
  let building = true
  const watch = () => {
    const now = worked()
    longest = Math.max(longest, now - last)
    last = now
    if (building) setImmediate(watch)
  }
  setImmediate(watch)
  await buildSkillIndex(entries)
  building = false
  return longest
}

const nameKey = (name: string) => wordsOf(name).join(' ')

/** A thousand queries of each kind. A beginning or a piece is taken only where at most five names have it. */
function makeQueries(entries: SkillEntry[]): Record<string, Query[]> {
  const random = randomNumbers(5)
  const starts = sharedBeginnings(entries)
  const holds = sharedPieces(entries)
  const kinds: Record<string, (name: string) => string | undefined> = {
    exact: (name) => name,
    prefix: (name) => {
      const text = name.slice(0, Math.max(4, Math.floor(name.length * 0.7)))
      return starts(text) <= FIRST ? text : undefined
    },
    'mid-word': (name) => {
      const text = name.slice(2, -2)
      return name.length > 9 && holds(text) <= FIRST ? text : undefined
    },
    typo: (name) => misspell(name, random),
    swapped: (name) => {
      const words = name.split(' ')
      return words.length > 1 ? [...words.slice(1), words[0]].join(' ') : undefined
    },
  }
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, make]) => {
      const queries: Query[] = []
      while (queries.length < QUERIES) {
        const { name } = entries[Math.floor(random() * entries.length)]!
        const text = make(name)
        if (text && text.length >= 3 && text.length <= 100) queries.push({ text, wanted: nameKey(name) })
      }
      return [kind, queries]
    }),
  )
}

/** How many names begin with a text. */
function sharedBeginnings(entries: SkillEntry[]): (text: string) => number {
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

/** How many names hold a text, up to one more than are looked at. */
function sharedPieces(entries: SkillEntry[]): (text: string) => number {
  const names = entries.map(({ name }) => name.toLowerCase()).join('\n')
  return (text) => {
    const piece = text.toLowerCase()
    let count = 0
    for (let at = names.indexOf(piece); at >= 0 && count <= FIRST; at = names.indexOf(piece, at + 1)) count++
    return count
  }
}

/** One edit in a word of 4 to 7 letters, one or two in a longer one. */
function misspell(name: string, random: () => number): string | undefined {
  const words = name.split(' ')
  const places = words.flatMap((word, i) => (/^[a-z]{4,}$/i.test(word) ? [i] : []))
  if (places.length === 0) return undefined
  const place = places[Math.floor(random() * places.length)]!
  let word = words[place]!
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
  words[place] = word
  return words.join(' ')
}

if (import.meta.main) {
  const rows = await run()
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
  else printRows('skill-search', rows)
}
