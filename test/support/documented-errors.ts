import assert from 'node:assert/strict'
import { apiOfPath } from '../../server/api/envelope.ts'
import type { ErrorCode } from '../../server/api/problem.ts'
import { bodyCodes, type ErrorSource, errorCodesOf } from '../../server/openapi/errors.ts'
import type { App } from '../../server/platform/http/server.ts'

/**
 * Watches the error responses of the published APIs. The returned function throws if an operation has returned a code that its
 * description does not list.
 */
export function watchErrorCodes(app: App): () => void {
  const undocumented = new Set<string>()
  app.addHook('onResponse', (request, _reply, done) => {
    const { method, url, config, schema } = request.routeOptions as unknown as ErrorSource & { url: string }
    const { operationId } = (schema ?? {}) as { operationId?: string }
    const api = apiOfPath(url ?? '/')
    if (!request.errorCode || !operationId || api === 'console' || api === 'site') return done()
    const code = request.errorCode as ErrorCode
    // A request can have a body although the operation has none.
    if (!bodyCodes.includes(code) && !errorCodesOf(api, { method, config, schema }).includes(code))
      undocumented.add(`${operationId} (${api} API) returned ${code}`)
    done()
  })
  return () =>
    assert.deepEqual(
      [...undocumented],
      [],
      'add the codes to `errors` in the config of the route: the reference lists them',
    )
}
