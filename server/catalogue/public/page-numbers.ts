import { invalid } from '../../api/invalid.ts'

export interface PageRequest {
  page: number
  limit: number
}

export interface PageWindow {
  offset: number
  limit: number
}

/** Returns the position of a page in a list of `count` items. Rejects pages after the last one; an empty list has one page. */
export function pageWindow({ page, limit }: PageRequest, count: number): PageWindow {
  const lastPage = Math.max(1, Math.ceil(count / limit))
  if (page > lastPage) throw invalid([{ path: 'query.page', message: `must be at most ${lastPage}, the last page` }])
  return { offset: (page - 1) * limit, limit }
}
