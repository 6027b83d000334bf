import { invalid } from '../../api/invalid.ts'

export interface PageRequest {
  page: number
  limit: number
}

export interface PageWindow {
  offset: number
  limit: number
}

/** Returns the position of a page in a list of `count` items. Rejects pages after the last one. */
export function pageWindow({ page, limit }: PageRequest, count: number): PageWindow {
  rejectPageAfterLast({ page, limit }, count)
  return { offset: (page - 1) * limit, limit }
}

/** Throws if a list of `count` items does not have this page. An empty list has one page. */
export function rejectPageAfterLast({ page, limit }: PageRequest, count: number): void {
  const lastPage = Math.max(1, Math.ceil(count / limit))
  if (page > lastPage) throw invalid([{ path: 'query.page', message: `must be at most ${lastPage}, the last page` }])
}
