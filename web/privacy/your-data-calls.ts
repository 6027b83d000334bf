import { type ApiResult, call } from '../api.ts'
import type { YourDataView } from '../api-types/candidate.ts'
import { paths } from '../paths.ts'

export type SubjectKind = YourDataView['kind']

/** Calls the API of the page about personal data with the token of a personal link. */
export function yourDataCalls(kind: string, token: string) {
  const path = paths.yourData(kind)
  const headers = { authorization: `Bearer ${token}` }
  return {
    load: (language?: string): Promise<ApiResult<YourDataView>> =>
      call(language ? `${path}?lang=${language}` : path, { headers }),
    agree: (language: string): Promise<ApiResult<YourDataView>> =>
      call(`${path}/consent`, { body: { language }, headers }),
    post: <T>(subpath: string, body: object): Promise<ApiResult<T>> => call(`${path}${subpath}`, { body, headers }),
  }
}

/** Returns the address of the page about personal data, with the token in the fragment, which is not sent to the server. */
export function yourDataUrl(kind: SubjectKind, token: string): string {
  return `/your-data/${kind}#token=${encodeURIComponent(token)}`
}
