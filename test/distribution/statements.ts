import type pg from 'pg'
import { DISTRIBUTION_COLUMN, type Table } from './schema.ts'

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  Alias?: string
  'CTE Name'?: string
  'Subplan Name'?: string
  Output?: string[]
  Plans?: PlanNode[]
  [property: string]: unknown
}

const CONDITIONS = ['Index Cond', 'Recheck Cond', 'Filter', 'Hash Cond', 'Merge Cond', 'Join Filter', 'TID Cond']
const COLUMN = new RegExp(`^(\\w+|"(?:[^"]|"")+")\\.${DISTRIBUTION_COLUMN}$`)
/** A parameter or a constant. */
const VALUE = /^\(?(\$\d+|'[^']*')\)?(::\w+)?$/
/** The result of a subquery that is computed once, before the statement. */
const INIT_PLAN = /^\(InitPlan \d+\)\.col\d+$/

/**
 * Returns the distributed tables whose rows a statement reads or changes without limiting them to one organisation. PostgreSQL plans the
 * statement, so its text is not parsed here. An outer join counts as an inner one.
 */
export async function findUnroutedTables(
  client: pg.ClientBase,
  statement: string,
  tables: readonly Table[],
): Promise<string[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (generic_plan, verbose, costs off, format json) ${statement}`,
  )
  const nodes = [...walk(rows[0]!['QUERY PLAN'][0].Plan)]
  const distributed = new Set(
    tables.filter(({ kind, hasColumn }) => kind === 'distributed' && hasColumn).map(({ name }) => name),
  )
  const partitions = await readPartitions(client)
  const scans = nodes
    .filter((node) => node['Relation Name'] !== undefined && node['Node Type'] !== 'ModifyTable')
    .map((node) => ({
      table: partitions.get(node['Relation Name']!) ?? node['Relation Name']!,
      alias: unquote(node.Alias!),
    }))
    .filter(({ table }) => distributed.has(table))
  const routed = findRoutedAliases(nodes)
  return [...new Set(scans.filter(({ alias }) => !routed.has(alias)).map(({ table }) => table))].sort()
}

function* walk(node: PlanNode): Generator<PlanNode> {
  yield node
  for (const child of node.Plans ?? []) yield* walk(child)
}

/** Returns the aliases whose rows are limited to one organisation: by a value, or by a row of another alias that is. */
function findRoutedAliases(nodes: readonly PlanNode[]): Set<string> {
  const routed = new Set<string>()
  const equal: [string, string][] = []
  for (const node of nodes) {
    for (const property of CONDITIONS) {
      // The condition of a bitmap index scan may be one side of an OR; its heap scan has the whole condition.
      if (typeof node[property] !== 'string' || node['Node Type'] === 'Bitmap Index Scan') continue
      for (const [left, right] of readEqualities(node[property])) {
        const [a, b] = [aliasOf(left), aliasOf(right)]
        if (a !== undefined && b !== undefined) equal.push([a, b])
        else if (a !== undefined && (VALUE.test(right) || INIT_PLAN.test(right))) routed.add(a)
        else if (b !== undefined && (VALUE.test(left) || INIT_PLAN.test(left))) routed.add(b)
      }
    }
    for (const source of sourcesOf(node, nodes))
      for (const column of source.Output ?? []) {
        const alias = aliasOf(column)
        if (alias !== undefined && node.Alias !== undefined) equal.push([unquote(node.Alias), alias])
      }
  }
  for (let size = -1; size !== routed.size; ) {
    size = routed.size
    for (const [a, b] of equal) {
      if (routed.has(a)) routed.add(b)
      if (routed.has(b)) routed.add(a)
    }
  }
  return routed
}

/** Returns the plans whose rows a node reads under a name of its own. */
function sourcesOf(node: PlanNode, nodes: readonly PlanNode[]): PlanNode[] {
  if (node['Node Type'] === 'CTE Scan')
    return nodes.filter((other) => other['Subplan Name'] === `CTE ${node['CTE Name']}`)
  return node['Node Type'] === 'Subquery Scan' ? (node.Plans ?? []) : []
}

function readEqualities(condition: string): [string, string][] {
  return splitConjuncts(condition).flatMap((conjunct) => {
    const [, left, right] = /^(.+?) = (.+)$/.exec(conjunct) ?? []
    return left !== undefined && right !== undefined ? [[left, right] as [string, string]] : []
  })
}

/** Splits a condition such as `((a = b) AND (c = d))` into its parts, without their parentheses. */
function splitConjuncts(condition: string): string[] {
  const text = stripParentheses(condition)
  const parts: string[] = []
  let [depth, start, isQuoted] = [0, 0, false]
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    if (character === '(') depth++
    if (character === ')') depth--
    if (depth === 0 && text.startsWith(' AND ', index)) {
      parts.push(text.slice(start, index))
      start = index + ' AND '.length
    }
  }
  if (parts.length === 0) return [text]
  return [...parts, text.slice(start)].flatMap(splitConjuncts)
}

function stripParentheses(text: string): string {
  if (!text.startsWith('(') || !text.endsWith(')')) return text
  let [depth, isQuoted] = [0, false]
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    if (text[index] === '(') depth++
    if (text[index] === ')' && --depth === 0) return index === text.length - 1 ? text.slice(1, -1) : text
  }
  return text
}

function aliasOf(expression: string): string | undefined {
  const alias = COLUMN.exec(expression.trim())?.[1]
  return alias === undefined ? undefined : unquote(alias)
}

function unquote(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}

const partitionsOfClients = new WeakMap<pg.ClientBase, Promise<Map<string, string>>>()

/** Returns the parents of partitions. */
function readPartitions(client: pg.ClientBase): Promise<Map<string, string>> {
  let partitions = partitionsOfClients.get(client)
  if (!partitions) {
    partitions = client
      .query<{ name: string; parent: string }>(
        `select child.relname as name, parent.relname as parent from pg_inherits
           join pg_class as child on child.oid = inhrelid
           join pg_class as parent on parent.oid = inhparent
         where child.relkind = 'r'`,
      )
      .then(({ rows }) => new Map(rows.map(({ name, parent }) => [name, parent])))
    partitionsOfClients.set(client, partitions)
  }
  return partitions
}
