import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { getOrganisation } from '../../access/organisations.ts'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import { sendTestMessage } from '../../campaigns/contact/test-message.ts'
import { balanceOf } from '../../campaigns/credits.ts'
import {
  type DndCheck,
  findDndCheck,
  removeDndCheck,
  requireDndUrl,
  setDndCheck,
} from '../../campaigns/dnd/dnd-check.ts'
import { PHONE_FORMAT_MESSAGE, PHONE_PATTERN, phoneError } from '../../campaigns/phone-number.ts'
import { isEmailAddress } from '../../campaigns/schema.ts'
import { getSpendingSettings } from '../../campaigns/spending/prices.ts'
import { type ChannelName, channelNames } from '../../channels/channel.ts'
import { checkChannel } from '../../channels/check.ts'
import { type ChannelAccount, listAccounts, removeCredentials, saveCredentials } from '../../channels/credentials.ts'
import { redactSecrets, validateSettings } from '../../channels/settings.ts'
import { webhookUrls } from '../../channels/webhook-urls.ts'
import type { Context } from '../../context.ts'
import { getPrivacySettings } from '../../notices/settings.ts'
import { formatWait } from '../../platform/clock.ts'
import type { Queries } from '../../platform/database/database.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { type OrgAccess, recordRequestAudit } from '../auth/guards.ts'
import { closed, successResponse } from '../schema.ts'

const text = Type.String()
const channel = Type.Enum([...channelNames])
const ChannelParams = Type.Object({ channel })

const ChannelFindingRecord = named(
  'ChannelFinding',
  Type.Object({ severity: Type.Enum(['refused', 'warning']), problem: text, remedy: text }),
)
const ConsoleChannel = named(
  'ConsoleChannel',
  Type.Object({
    channel,
    channel_id: Type.Union([text, Type.Null()]),
    is_set_up: Type.Boolean(),
    settings: Type.Record(text, Type.Unknown(), { description: 'Settings without secrets.' }),
    findings: Type.Array(ChannelFindingRecord),
    webhooks: Type.Array(text, {
      description: 'URLs to be entered at the provider. Only for owners, because some of them contain a secret.',
    }),
    webhook_called_at: Type.Union([text, Type.Null()], {
      description: 'Time of the first request of the provider to the URL. Null if there was none.',
    }),
  }),
)
const goLiveSteps = [
  'public_url',
  'channel',
  'webhook',
  'contact_basis',
  'privacy_contact',
  'credits',
  'mandate',
  'daily_cap',
  'dnd_check',
] as const
const GoLiveStep = named(
  'GoLiveStep',
  Type.Object({
    step: Type.Enum([...goLiveSteps]),
    done: Type.Boolean(),
    required: Type.Boolean({ description: 'False for a step that is only recommended.' }),
    who: Type.Enum(['operator', 'owner', 'recruiter'], { description: 'The people who can do the step.' }),
  }),
)
const optionalTime = Type.Union([text, Type.Null()])
const DndCheckRecord = named(
  'DndCheck',
  Type.Object({
    url: text,
    last_success_at: optionalTime,
    failing_since: optionalTime,
    last_error: Type.Union([text, Type.Null()]),
  }),
)
const ChannelOverview = named(
  'ChannelOverview',
  Type.Object({
    channels: Type.Array(ConsoleChannel),
    steps: Type.Array(GoLiveStep),
    dnd_check: Type.Union([DndCheckRecord, Type.Null()], {
      description: 'The service that checks LIVE phone numbers before the first contact. Null if there is none.',
    }),
  }),
)
const NewDndCheck = named('NewDndCheck', Type.Object({ overview: ChannelOverview, secret: text }))
const TestMessageResult = named(
  'TestMessageResult',
  Type.Object({
    accepted: Type.Boolean(),
    error: Type.Union([text, Type.Null()]),
    remedy: Type.Union([text, Type.Null()]),
  }),
)

/** The data centres of Exotel in Singapore and Mumbai. */
const EXOTEL_URLS = ['https://api.exotel.com', 'https://api.in.exotel.com']

/** Limits test messages, which cost money and could be sent to other people. */
const TEST_MESSAGES: Rule = { name: 'console-test-messages', kind: 'fixed', limit: 5, seconds: 3600 }

/** Routes for the channels of an organisation, and the steps from TEST to LIVE. */
export function channelRoutes(app: App, context: Context): void {
  const { db, vault, clock, config } = context
  const ownerConfig = { role: 'owner', recentSignIn: true } as const

  app.get(
    '/orgs/:org/channels',
    { config: { role: 'viewer' }, schema: { response: { 200: success(ChannelOverview) } } },
    async ({ orgAccess }) => successResponse('Channels', await overview(db.queries, orgAccess)),
  )

  app.put(
    '/orgs/:org/channels/:channel',
    {
      config: ownerConfig,
      schema: {
        params: ChannelParams,
        body: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { maxProperties: 50 })),
        response: { 200: success(ChannelOverview) },
      },
    },
    async (request) => {
      const { orgAccess, params, body } = request
      rejectOperatorSettings(params.channel, body)
      const settings = validateSettings(params.channel, body)
      const data = await db.transaction(async (tx) => {
        const id = await saveCredentials(tx, vault, clock, orgAccess.orgId, params.channel, settings)
        await recordRequestAudit(tx, context, request, 'channel.set', id, { channel: params.channel })
        return overview(tx, orgAccess)
      })
      return successResponse('Channel set up', data)
    },
  )

  app.delete(
    '/orgs/:org/channels/:channel',
    { config: ownerConfig, schema: { params: ChannelParams, response: { 200: success(ChannelOverview) } } },
    async (request) => {
      const { orgAccess, params } = request
      rejectOperatorSettings(params.channel, {})
      const data = await db.transaction(async (tx) => {
        if (!(await removeCredentials(tx, orgAccess.orgId, params.channel)))
          throw problem('NOT_FOUND', `The organisation has no ${params.channel} channel.`)
        await recordRequestAudit(tx, context, request, 'channel.remove', undefined, { channel: params.channel })
        return overview(tx, orgAccess)
      })
      return successResponse('Channel removed', data)
    },
  )

  app.put(
    '/orgs/:org/dnd-check',
    {
      config: ownerConfig,
      schema: {
        body: Type.Object({ url: Type.String({ minLength: 1, maxLength: 2000 }) }, closed),
        response: { 200: success(NewDndCheck) },
      },
    },
    async (request) => {
      const { orgAccess, body } = request
      await requireDndUrl({ config }, body.url)
      const data = await db.transaction(async (tx) => {
        const secret = await setDndCheck(tx, vault, clock, orgAccess.orgId, body.url)
        await recordRequestAudit(tx, context, request, 'dnd-check.set', undefined, { url: body.url })
        return { overview: await overview(tx, orgAccess), secret }
      })
      return successResponse('Check of numbers set up', data)
    },
  )

  app.delete(
    '/orgs/:org/dnd-check',
    { config: ownerConfig, schema: { response: { 200: success(ChannelOverview) } } },
    async (request) => {
      const { orgAccess } = request
      const data = await db.transaction(async (tx) => {
        if (!(await removeDndCheck(tx, orgAccess.orgId)))
          throw problem('NOT_FOUND', 'The organisation has no check of numbers.')
        await recordRequestAudit(tx, context, request, 'dnd-check.remove', undefined)
        return overview(tx, orgAccess)
      })
      return successResponse('Check of numbers removed', data)
    },
  )

  app.post(
    '/orgs/:org/channels/:channel/test',
    {
      config: ownerConfig,
      schema: {
        params: ChannelParams,
        body: Type.Object({ to: Type.String({ minLength: 1, maxLength: 254 }) }, closed),
        response: { 200: success(TestMessageResult) },
      },
    },
    async (request) => {
      const { orgAccess, params, body } = request
      const message = params.channel === 'email' ? testEmailError(body.to) : testNumberError(body.to)
      if (message) throw invalid([{ path: 'to', message }])
      await limitTestMessages(orgAccess.orgId)
      await db.transaction((tx) =>
        recordRequestAudit(tx, context, request, 'channel.test', undefined, { channel: params.channel }),
      )
      const { orgId } = orgAccess
      const { name: company } = await getOrganisation(db.queries, orgId)
      const outcome = await sendTestMessage(context, { orgId, company, channel: params.channel, to: body.to })
      return successResponse('Test message', outcome)
    },
  )

  async function limitTestMessages(orgId: string) {
    const { rejectedBy, retryAfter } = await context.limits.limiter.take(orgId, [TEST_MESSAGES], clock.now())
    if (rejectedBy === undefined) return
    throw problem('RATE_LIMITED', `Too many test messages. Try again in ${formatWait(retryAfter)}.`, { retryAfter })
  }

  async function overview(queries: Queries, { orgId, role }: Pick<OrgAccess, 'orgId' | 'role'>) {
    const live = { orgId, mode: 'live' as const }
    const mayReadSecretUrls = role === 'owner' || role === 'operator'
    const accounts = await listAccounts(queries, vault, orgId)
    const urlsOf = ({ channel, credentials, channel_id }: ChannelAccount) =>
      webhookUrls(channel, credentials, channel_id, config.publicUrl)
    const channels = channelNames.map((name) => {
      const account = accounts.find((each) => each.channel === name)
      return {
        channel: name,
        channel_id: account?.channel_id ?? null,
        is_set_up: account !== undefined || (name === 'email' && config.smtpUrl !== undefined),
        settings: account ? redactSecrets(account.credentials) : {},
        findings: account
          ? checkChannel(account, config.publicUrl).map(({ severity, problem, remedy }) => ({
              severity,
              problem,
              remedy,
            }))
          : [],
        webhooks: account && config.publicUrl && mayReadSecretUrls ? urlsOf(account) : [],
        webhook_called_at: account?.webhook_called_at?.toISOString() ?? null,
      }
    })
    const dndCheck = await findDndCheck(queries, orgId)
    const { contact_basis, grievance_email, grievance_phone } = await getPrivacySettings(queries, orgId)
    const { rows } =
      await sql`select from mandates where org_id = ${orgId} and mode = 'live' and status = 'ready' limit 1`.execute(
        queries,
      )
    const step = (name: (typeof goLiveSteps)[number], who: 'operator' | 'owner' | 'recruiter', done: boolean) => ({
      step: name,
      done,
      required: name !== 'daily_cap' && name !== 'dnd_check',
      who,
    })
    const canSend = channels.some(
      ({ is_set_up, findings }) => is_set_up && !findings.some(({ severity }) => severity === 'refused'),
    )
    const receivesReplies =
      channels.some(({ is_set_up }) => is_set_up) &&
      accounts.every((account) => account.webhook_called_at !== null || urlsOf(account).length === 0)
    const steps = [
      step('public_url', 'operator', config.publicUrl?.startsWith('https:') ?? false),
      step('channel', 'owner', canSend),
      step('webhook', 'owner', receivesReplies),
      step('contact_basis', 'owner', contact_basis !== null),
      step('privacy_contact', 'owner', grievance_email !== null || grievance_phone !== null),
      step('credits', 'operator', (await balanceOf(queries, live)) > 0),
      step('mandate', 'recruiter', rows.length > 0),
      step('daily_cap', 'recruiter', (await getSpendingSettings(queries, live)).dailyCap !== null),
      step('dnd_check', 'owner', dndCheck !== undefined),
    ]
    return { channels, steps, dnd_check: dndCheck ? dndCheckRecord(dndCheck) : null }
  }
}

function dndCheckRecord({ url, last_success_at, failing_since, last_error }: DndCheck) {
  return {
    url,
    last_success_at: last_success_at?.toISOString() ?? null,
    failing_since: failing_since?.toISOString() ?? null,
    last_error,
  }
}

function testEmailError(text: string): string | undefined {
  return isEmailAddress(text) ? undefined : 'must be an email address, such as asha@example.com'
}

function testNumberError(text: string): string | undefined {
  return new RegExp(PHONE_PATTERN).test(text) ? phoneError(text) : PHONE_FORMAT_MESSAGE
}

/** Rejects settings that only operators may change, because the server would connect to a host of the owner's choice. */
function rejectOperatorSettings(name: ChannelName, settings: Record<string, unknown>): void {
  if (name === 'email')
    throw problem(
      'FORBIDDEN',
      'Only operators set up or remove a mail server. Ask the operator to run attestry channels set or remove.',
    )
  const { base_url: url, provider } = settings
  if (url === undefined || (provider === 'exotel' && EXOTEL_URLS.includes(url as string))) return
  const message =
    provider === 'exotel'
      ? `must be ${EXOTEL_URLS.join(' or ')}; operators can set others with attestry channels set`
      : 'can only be set by operators, with attestry channels set'
  throw invalid([{ path: 'base_url', message }])
}
