import { test } from 'node:test'
import { setKeyLimits } from '../../../server/access/key-limits.ts'
import { switchService } from '../../../server/access/service-switch.ts'
import { partnerErrorCodes } from '../../../server/api/problem.ts'
import { startApp } from '../../support/app.ts'
import { type Cleanup, oncePerFile } from '../../support/cleanup.ts'
import { aTestNumberCandidate, createCampaignPartner, createPartner } from '../../support/partners.ts'
import { addSampleResource, createSampleTable } from '../../support/sample-resource.ts'
import { assertExample, makeDatabaseReadOnly, type Provocations } from './compare.ts'

/** Resolves when the first request with an idempotency key may finish. */
const firstRequest = Promise.withResolvers<void>()
const firstRequestStarted = Promise.withResolvers<void>()

async function startSampleApp(t: Cleanup) {
  const app = await startApp(t, {
    extend: (server, context) =>
      addSampleResource(server, context, {
        pause: () => {
          firstRequestStarted.resolve()
          return firstRequest.promise
        },
      }),
  })
  await createSampleTable(app.context)
  return app
}

const getApp = oncePerFile(startSampleApp)
const getHttpsApp = oncePerFile((t) => startApp(t, { config: { requireHttps: true } }))
const getReadOnlyApp = oncePerFile((t) => startApp(t))

const newPartner = async () => createPartner(await getApp())
const newCampaignPartner = async (credits: number) => createCampaignPartner(await getApp(), { credits })

/** Returns the calls of a key with the default limits. */
async function newLimitedKey() {
  const app = await getApp()
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createPartnerKey(orgId)
  return { ...app.as(key), key, orgId }
}

async function createMandate(via: 'api' | 'playground' = 'api') {
  const app = await getApp()
  const partner = await newPartner()
  const workflow = await app.fixtures.createWorkflow(partner.scope, {}, via)
  const { workflow_id } = workflow
  const mandate = await app.fixtures.createMandate(partner.scope, { workflow_id }, via)
  return { ...partner, workflow_id, mandate }
}

const provocations: Provocations<typeof partnerErrorCodes> = {
  VALIDATION_FAILED: async () => (await newPartner()).get('/mandates?limit=1000'),
  IDEMPOTENCY_KEY_REQUIRED: async () => {
    const { post, mandate } = await createMandate()
    return post('/campaigns', { mandate_id: mandate.mandate_id, candidates: [aTestNumberCandidate(1)] })
  },
  UNAUTHORIZED: async () => (await newPartner()).get('/shifts', { headers: { 'x-signature': `v1=${'0'.repeat(64)}` } }),
  INSUFFICIENT_CREDITS: async () => {
    const partner = await newCampaignPartner(1)
    const { mandate_id } = await (await getApp()).fixtures.createMandate(partner.scope)
    const candidates = [1, 2, 3].map((number) => aTestNumberCandidate(number))
    return partner.post('/campaigns', { mandate_id, candidates }, { idempotencyKey: true })
  },
  FORBIDDEN: async () => {
    const { delete: remove, mandate } = await createMandate('playground')
    return remove(`/mandates/${mandate.mandate_id}`)
  },
  SCOPE_MISSING: async () => {
    const app = await getApp()
    const { orgId } = await app.fixtures.createOrg()
    return app.as(await app.fixtures.createPartnerKey(orgId, { scopes: [] })).post('/mandates', {})
  },
  HTTPS_REQUIRED: async () => (await getHttpsApp()).fetch('/api/v1/partner/shifts'),
  NOT_FOUND: async () => (await newPartner()).get('/campaigns/CP_01KKDSD0J0P26SYTR42FVC31EM'),
  CONFLICT: async () => {
    const partner = await newCampaignPartner(10)
    const { mandate_id } = await (await getApp()).fixtures.createMandate(partner.scope)
    const created = await partner.post('/campaigns', { mandate_id }, { idempotencyKey: true })
    const path = `/campaigns/${created.body.data.campaign.campaign_id}/pause`
    await partner.post(path)
    return partner.post(path)
  },
  WORKFLOW_IN_USE: async () => {
    const app = await getApp()
    const { delete: remove, workflow_id, scope } = await createMandate()
    await app.fixtures.createMandate(scope, { workflow_id })
    return remove(`/workflows/${workflow_id}`)
  },
  IDEMPOTENCY_IN_PROGRESS: async () => {
    const { post } = await newPartner()
    const first = post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })
    await firstRequestStarted.promise
    const second = await post('/samples', { name: 'one' }, { idempotencyKey: 'k-1' })
    firstRequest.resolve()
    await first
    return second
  },
  PAYLOAD_TOO_LARGE: async () => (await newPartner()).post('/workflows', { name: 'x'.repeat(300_000) }),
  UNSUPPORTED_MEDIA_TYPE: async () =>
    (await newPartner()).post('/workflows', { name: 'x' }, { headers: { 'content-type': 'text/plain' } }),
  LIMIT_EXCEEDED: async () => {
    const { post, workflow_id } = await createMandate()
    const skills = Array.from({ length: 11 }, (_, index) => ({ skill_id: `sk_${1001 + index}` }))
    return post('/mandates', { workflow_id, title: 'Mason', company_name: 'Metro', skills })
  },
  IDEMPOTENCY_KEY_REUSED: async () => {
    const { post } = await newPartner()
    await post('/workflows', { name: 'one' }, { idempotencyKey: 'k-2' })
    return post('/workflows', { name: 'two' }, { idempotencyKey: 'k-2' })
  },
  RATE_LIMITED: async () => {
    const { get, key } = await newLimitedKey()
    await (await getApp()).context.db.transaction((tx) =>
      setKeyLimits(tx, key.keyId, { bucket: 'reads', rates: { rate: 100, burst: 100, minute: 3, day: 1000 } }),
    )
    await (await getApp()).context.keyring.refresh()
    for (let call = 0; call < 3; call++) await get('/shifts')
    return get('/shifts')
  },
  COOLDOWN: async () => {
    const { get } = await newLimitedKey()
    let response = await get('/shifts')
    for (let call = 0; call < 300 && response.body.error?.code !== 'COOLDOWN'; call++) response = await get('/shifts')
    return response
  },
  DAILY_CAP: async () => {
    // The limit of a TEST key is lower.
    const { get } = await createPartner(await getApp(), 'test')
    let response = await get('/skills?limit=100')
    for (let page = 1; page < 20 && response.status === 200; page++)
      response = await get(`/skills?limit=100&cursor=${response.body.data.next_cursor}`)
    return response
  },
  SERVER_ERROR: async () => (await newPartner()).get('/broken'),
  SERVICE_DISABLED: async () => {
    const partner = await newPartner()
    const { context, clock } = await getApp()
    const change = { orgId: partner.orgId, state: 'api_off', reason: 'Unpaid' } as const
    await context.db.transaction((tx) => switchService(tx, clock, change))
    await context.keyring.refresh()
    return partner.get('/shifts')
  },
  SERVICE_UNAVAILABLE: async () => {
    const app = await getReadOnlyApp()
    const { post } = await createPartner(app)
    await makeDatabaseReadOnly(app)
    return post('/workflows', { name: 'Site hiring' })
  },
}

for (const [code, provoke] of Object.entries(provocations)) {
  test(`the example of ${code} in the partner API equals the response of the server`, () =>
    assertExample('partner', code, partnerErrorCodes[code as keyof typeof partnerErrorCodes], provoke))
}
