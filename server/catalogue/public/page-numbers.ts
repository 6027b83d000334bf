import { invalid } from '../../platform/http/validation.ts'

export interface Paging {
  page: number
  limit: number
}

/** Where a page lies in a list of `count` things; refused beyond the last page. Also an empty list has a first page. */
export function pageWithin({ page, limit }: Paging, count: number): { offset: number; limit: number } {
  const last = Math.max(1, Math.ceil(count / limit))
  if (page > last) throw invalid([{ path: 'query.page', message: `must be at most ${last}, the last page` }])
  return { offset: (page - 1) * limit, limit }
}
