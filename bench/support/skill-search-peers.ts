import pg from 'pg'
import type { SkillEntry } from '../../server/catalogue/index/labels/labels.ts'
import { startCluster } from '../../test/runner/cluster.ts'
import { importOptional } from './skill-catalogues.ts'

/** Returns the names of the best matching skills. */
export type Finder = (query: string) => readonly string[] | Promise<readonly string[]>

interface LoadedPeer {
  find: Finder
  close?: () => Promise<void>
}

interface SearchPeer {
  name: string
  /** Returns undefined if the package or extension is not installed. */
  load: (entries: SkillEntry[]) => Promise<LoadedPeer | undefined>
}

const MAX_RESULTS = 5
// biome-ignore lint/suspicious/noExplicitAny: the packages are optional, so their types cannot be relied on
type Package = any

async function miniSearch(entries: SkillEntry[]): Promise<LoadedPeer | undefined> {
  const library = await importOptional<Package>('minisearch')
  if (!library) return undefined
  const index = new library.default({
    idField: 'number',
    fields: ['name', 'aliases'],
    searchOptions: { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { name: 2 } },
  })
  index.addAll(entries.map(({ number, name, aliases }) => ({ number, name, aliases: aliases.join(' ') })))
  const names = namesByNumber(entries)
  const find: Finder = (query) =>
    index
      .search(query)
      .slice(0, MAX_RESULTS)
      .map((hit: { id: number }) => names.get(hit.id)!)
  return { find }
}

async function flexSearch(entries: SkillEntry[]): Promise<LoadedPeer | undefined> {
  const library = await importOptional<Package>('flexsearch')
  if (!library) return undefined
  const { Index, Charset } = library.Index ? library : library.default
  const index = new Index({ tokenize: 'forward', encoder: Charset.LatinBalance })
  for (const { number, name, aliases } of entries) index.add(number, [name, ...aliases].join(' '))
  const names = namesByNumber(entries)
  const find: Finder = (query) =>
    index.search(query, { limit: MAX_RESULTS, suggest: true }).map((id: number) => names.get(id)!)
  return { find }
}

async function orama(entries: SkillEntry[]): Promise<LoadedPeer | undefined> {
  const library = await importOptional<Package>('@orama/orama')
  if (!library) return undefined
  const index = library.create({ schema: { name: 'string', aliases: 'string' } })
  await library.insertMultiple(
    index,
    entries.map(({ name, aliases }) => ({ name, aliases: aliases.join(' ') })),
    2000,
  )
  const find: Finder = async (query) => {
    const { hits } = await library.search(index, { term: query, tolerance: 1, limit: MAX_RESULTS, boost: { name: 2 } })
    return hits.map((hit: { document: { name: string } }) => hit.document.name)
  }
  return { find }
}

async function uFuzzy(entries: SkillEntry[]): Promise<LoadedPeer | undefined> {
  const library = await importOptional<Package>('@leeoniya/ufuzzy')
  if (!library) return undefined
  const fuzzy = new library.default({ intraMode: 1 })
  const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases].map((label) => ({ label, name })))
  const labelTexts = labels.map(({ label }) => label)
  const find: Finder = (query) => {
    const [matches, info, order] = fuzzy.search(labelTexts, query, 1)
    const bestIndexes: number[] = order ? order.map((i: number) => info.idx[i]) : (matches ?? [])
    return [...new Set(bestIndexes.slice(0, 40).map((i) => labels[i]!.name))].slice(0, MAX_RESULTS)
  }
  return { find }
}

/** Loads names and aliases into a PostgreSQL table with a trigram GIN index, which is queried over a socket. */
async function pgTrgm(entries: SkillEntry[]): Promise<LoadedPeer | undefined> {
  const cluster = await startCluster()
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  const stop = async () => {
    await client.end()
    await cluster.stop()
  }
  try {
    const { rowCount } = await client.query("select from pg_available_extensions where name = 'pg_trgm'")
    if (rowCount === 0) {
      await stop()
      return undefined
    }
    await client.query('create extension pg_trgm; create table labels (label text not null, name text not null)')
    const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases].map((label) => ({ label, name })))
    await client.query('insert into labels select * from unnest($1::text[], $2::text[])', [
      labels.map(({ label }) => label),
      labels.map(({ name }) => name),
    ])
    await client.query('create index on labels using gin (label gin_trgm_ops)')
    await client.query('vacuum analyze labels')
  } catch (error) {
    await stop()
    throw error
  }
  const find: Finder = async (query) => {
    const { rows } = await client.query<{ name: string }>({
      name: 'nearest',
      text: 'select name from labels where label % $1 order by similarity(label, $1) desc, label limit 40',
      values: [query],
    })
    return [...new Set(rows.map(({ name }) => name))].slice(0, MAX_RESULTS)
  }
  return { find, close: stop }
}

function namesByNumber(entries: SkillEntry[]): Map<number, string> {
  return new Map(entries.map(({ number, name }) => [number, name]))
}

/**
 * The search libraries, and the trigrams of PostgreSQL, that our search is compared with. They have the same names and aliases and
 * are configured for prefixes and typos as their documentation recommends.
 */
export const peers: SearchPeer[] = [
  { name: 'MiniSearch', load: miniSearch },
  { name: 'FlexSearch', load: flexSearch },
  { name: 'Orama', load: orama },
  { name: 'uFuzzy', load: uFuzzy },
  { name: 'pg_trgm', load: pgTrgm },
]
