import pg from 'pg'
import type { SkillEntry } from '../../server/catalogue/index/labels/labels.ts'
import { startCluster } from '../../test/runner/cluster.ts'
import type { Finder } from '../skill-search.ts'
import { peer } from './skill-catalogues.ts'

/**
 * Search libraries, and PostgreSQL's trigrams, over the same names and aliases, set up for beginnings and typos as their
 * documentation advises.
 */

interface Peer {
  name: string
  /** Undefined where the package or extension is not installed. */
  load: (entries: SkillEntry[]) => Promise<Finder | undefined>
}

const FIRST = 5
const IDLE_MS = 5000
// biome-ignore lint/suspicious/noExplicitAny: the packages are optional, so their types cannot be relied on
type Package = any

async function miniSearch(entries: SkillEntry[]): Promise<Finder | undefined> {
  const found = await peer<Package>('minisearch')
  if (!found) return undefined
  const index = new found.default({
    idField: 'number',
    fields: ['name', 'aliases'],
    searchOptions: { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { name: 2 } },
  })
  index.addAll(entries.map(({ number, name, aliases }) => ({ number, name, aliases: aliases.join(' ') })))
  const names = namesOf(entries)
  return (query) =>
    index
      .search(query)
      .slice(0, FIRST)
      .map((hit: { id: number }) => names.get(hit.id)!)
}

async function flexSearch(entries: SkillEntry[]): Promise<Finder | undefined> {
  const found = await peer<Package>('flexsearch')
  if (!found) return undefined
  const { Index, Charset } = found.Index ? found : found.default
  const index = new Index({ tokenize: 'forward', encoder: Charset.LatinBalance })
  for (const { number, name, aliases } of entries) index.add(number, [name, ...aliases].join(' '))
  const names = namesOf(entries)
  return (query) => index.search(query, { limit: FIRST, suggest: true }).map((id: number) => names.get(id)!)
}

async function orama(entries: SkillEntry[]): Promise<Finder | undefined> {
  const found = await peer<Package>('@orama/orama')
  if (!found) return undefined
  const index = found.create({ schema: { name: 'string', aliases: 'string' } })
  await found.insertMultiple(
    index,
    entries.map(({ name, aliases }) => ({ name, aliases: aliases.join(' ') })),
    2000,
  )
  return async (query) => {
    const { hits } = await found.search(index, { term: query, tolerance: 1, limit: FIRST, boost: { name: 2 } })
    return hits.map((hit: { document: { name: string } }) => hit.document.name)
  }
}

async function uFuzzy(entries: SkillEntry[]): Promise<Finder | undefined> {
  const found = await peer<Package>('@leeoniya/ufuzzy')
  if (!found) return undefined
  const fuzzy = new found.default({ intraMode: 1 })
  const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases].map((label) => ({ label, name })))
  const haystack = labels.map(({ label }) => label)
  return (query) => {
    const [matches, info, order] = fuzzy.search(haystack, query, 1)
    const best: number[] = order ? order.map((i: number) => info.idx[i]) : (matches ?? [])
    return [...new Set(best.slice(0, 40).map((i) => labels[i]!.name))].slice(0, FIRST)
  }
}

/** A table of names and aliases with a GIN index, asked over a socket. */
async function pgTrgm(entries: SkillEntry[]): Promise<Finder | undefined> {
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
  // Nobody tells a finder that it is no longer needed: the database ends when no query has come for a while.
  const idle = setTimeout(stop, IDLE_MS)
  return async (query) => {
    idle.refresh()
    const { rows } = await client.query<{ name: string }>({
      name: 'nearest',
      text: 'select name from labels where label % $1 order by similarity(label, $1) desc, label limit 40',
      values: [query],
    })
    return [...new Set(rows.map(({ name }) => name))].slice(0, FIRST)
  }
}

function namesOf(entries: SkillEntry[]): Map<number, string> {
  return new Map(entries.map(({ number, name }) => [number, name]))
}

export const peers: Peer[] = [
  { name: 'MiniSearch', load: miniSearch },
  { name: 'FlexSearch', load: flexSearch },
  { name: 'Orama', load: orama },
  { name: 'uFuzzy', load: uFuzzy },
  { name: 'pg_trgm', load: pgTrgm },
]
