import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'

/** The pages whose filters can be saved. */
export const viewPages = ['results', 'campaigns', 'mandates'] as const
export type ViewPage = (typeof viewPages)[number]

/** Filters of a list that a member saved for the team. */
export interface SavedView {
  view_id: string
  page: ViewPage
  name: string
  query: string
  created_by: string
  created_at: Date
}

const MAX_VIEWS_PER_PAGE = 50

const columns = ['view_id', 'page', 'name', 'query', 'created_by', 'created_at'] as const

export async function listViews(queries: Queries, orgId: string, page: ViewPage): Promise<SavedView[]> {
  const rows = await queries
    .selectFrom('console_views')
    .select(columns)
    .where('org_id', '=', orgId)
    .where('page', '=', page)
    .orderBy('name')
    .execute()
  return rows as SavedView[]
}

/**
 * Stores a view, without the text of a search: it can be a name or an address, which must not remain after the person is erased. A view of
 * the same page with the same name is replaced.
 */
export async function saveView(
  tx: Tx,
  clock: Clock,
  orgId: string,
  who: string,
  { page, name, query: pageQuery }: Pick<SavedView, 'page' | 'name' | 'query'>,
): Promise<SavedView> {
  const parameters = new URLSearchParams(pageQuery)
  parameters.delete('q')
  const query = parameters.toString()
  const views = await listViews(tx, orgId, page)
  if (views.length >= MAX_VIEWS_PER_PAGE && !views.some((view) => view.name === name))
    throw problem('CONFLICT', `This page has ${MAX_VIEWS_PER_PAGE} views already; delete one first.`)
  const now = clock.now()
  const row = await tx
    .insertInto('console_views')
    .values({
      view_id: newId('VW_', now),
      org_id: orgId,
      page,
      name,
      query,
      created_by: who,
      created_at: new Date(now),
    })
    .onConflict((conflict) => conflict.columns(['org_id', 'page', 'name']).doUpdateSet({ query, created_by: who }))
    .returning(columns)
    .executeTakeFirstOrThrow()
  return row as SavedView
}

export async function deleteView(tx: Tx, orgId: string, viewId: string): Promise<SavedView> {
  const row = await tx
    .deleteFrom('console_views')
    .where('org_id', '=', orgId)
    .where('view_id', '=', viewId)
    .returning(columns)
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `View ${viewId} not found.`)
  return row as SavedView
}
