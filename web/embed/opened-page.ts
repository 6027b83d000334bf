import { type ApiResult, call } from '../api.ts'
import type { OpenedEmbedPage } from '../api-types/candidate.ts'
import { paths } from '../paths.ts'

/**
 * Returns the token of the opened page. The token in the address is exchanged for it once, and removed from the address. After a reload of the
 * frame, the token is read from the state of the history entry: browsers can block the storage of frames.
 */
export async function openPage(): Promise<ApiResult<string>> {
  const embedId = location.pathname.split('/').pop()!
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (!token) {
    const { pageToken } = (history.state ?? {}) as { pageToken?: string }
    return pageToken
      ? { ok: true, data: pageToken, status: 200 }
      : { ok: false, code: 'NOT_FOUND', message: '', status: 404 }
  }
  const result = await call<OpenedEmbedPage>(paths.openEmbed(embedId), { body: { token } })
  if (!result.ok) return result
  const { pageToken } = result.data
  history.replaceState({ pageToken }, '', location.pathname)
  return { ...result, data: pageToken }
}
