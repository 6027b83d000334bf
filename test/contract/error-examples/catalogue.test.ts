import { test } from 'node:test'
import { catalogueErrorCodes } from '../../../server/api/problem.ts'
import { startApp } from '../../support/app.ts'
import { oncePerFile } from '../../support/cleanup.ts'
import { addBrokenRoute, assertExample, makeDatabaseReadOnly, type Provocations } from './compare.ts'

const getApp = oncePerFile((t) => startApp(t, { extend: addBrokenRoute('/api/broken') }))
const getHttpsApp = oncePerFile((t) => startApp(t, { config: { requireHttps: true } }))
const getReadOnlyApp = oncePerFile(async (t) => {
  const app = await startApp(t)
  await app.fetch('/api/selected-skills?user_id=u-1')
  await makeDatabaseReadOnly(app)
  return app
})

const get = async (path: string) => (await getApp()).fetch(`/api${path}`)

const post = async (body: string, contentType = 'application/json') =>
  (await getApp()).fetch('/api/selected-skills', { method: 'POST', headers: { 'content-type': contentType }, body })

const SELECTION = JSON.stringify({
  user_id: 'user-17',
  skill_id: 'sk_2001',
  sub_skill_id: 'ss_201',
  master_skill_id: 'ms_2',
})

const provocations: Provocations<typeof catalogueErrorCodes> = {
  VALIDATION_FAILED: () => get('/skills?limit=1000'),
  ACCESS_DENIED: () => get('/admin/counts'),
  HTTPS_REQUIRED: async () => (await getHttpsApp()).fetch('/api/skills'),
  NOT_FOUND: () => get('/skills/sk_999999'),
  CONFLICT: async () => {
    await post(SELECTION)
    return post(SELECTION)
  },
  PAYLOAD_TOO_LARGE: () => post(JSON.stringify({ user_id: 'x'.repeat(300_000) })),
  UNSUPPORTED_MEDIA_TYPE: () => post(SELECTION, 'text/plain'),
  RATE_LIMITED: async () => {
    for (let call = 0; call < 15; call++) await get('/skills/search?keyword=welding')
    return get('/skills/search?keyword=welding')
  },
  SERVER_ERROR: () => get('/broken'),
  SERVICE_UNAVAILABLE: async () =>
    (await getReadOnlyApp()).fetch('/api/selected-skills', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: SELECTION,
    }),
}

for (const [code, provoke] of Object.entries(provocations)) {
  test(`the example of ${code} in the catalogue API equals the response of the server`, () =>
    assertExample('catalogue', code, catalogueErrorCodes[code as keyof typeof catalogueErrorCodes], provoke))
}
