import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { RETENTION_RULES, retentionClasses } from '../../notices/retention-classes.ts'
import { changeRetentionPeriods, getRetentionBounds, getRetentionPeriods } from '../../notices/retention-periods.ts'
import {
  changePrivacySettings,
  getPrivacySettings,
  type PrivacySettings,
  setOrganisationHold,
} from '../../notices/settings.ts'
import type { Queries } from '../../platform/database/database.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { setPersonHold } from '../../privacy/person-hold.ts'
import { PREVIEW_DAYS, previewRetention } from '../../privacy/retention/preview.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { findPersonRecords } from './person-records.ts'
import {
  HoldBody,
  PersonHoldParams,
  PersonHoldRecord,
  PersonRecordsRecord,
  PrivacyRequestRecord,
  PrivacySettingsBody,
  PrivacySettingsRecord,
  RetentionBody,
  RetentionPreviewRecord,
  RetentionRecord,
} from './schema.ts'

/** Routes for the privacy settings, the retention periods and the legal holds of an organisation. */
export function privacyRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const viewerConfig = { role: 'viewer' } as const
  const ownerConfig = { role: 'owner' } as const

  app.get(
    '/orgs/:org/privacy',
    { config: viewerConfig, schema: { response: { 200: success(PrivacySettingsRecord) } } },
    async ({ orgAccess }) =>
      successResponse('Privacy settings', settingsRecord(await getPrivacySettings(db.queries, orgAccess.orgId))),
  )

  app.put(
    '/orgs/:org/privacy',
    { config: ownerConfig, schema: { body: PrivacySettingsBody, response: { 200: success(PrivacySettingsRecord) } } },
    async (request) => {
      const { orgAccess, body } = request
      const settings = await db.transaction(async (tx) => {
        const changed = await changePrivacySettings(tx, clock, orgAccess.orgId, body)
        const fields = Object.keys(body)
        await recordRequestAudit(tx, context, request, 'privacy.settings', orgAccess.orgId, { fields })
        return changed
      })
      return successResponse('Privacy settings changed', settingsRecord(settings))
    },
  )

  app.put(
    '/orgs/:org/privacy/hold',
    {
      config: { role: 'owner', recentSignIn: true },
      schema: { body: HoldBody, response: { 200: success(PrivacySettingsRecord) } },
    },
    async (request) => {
      const { orgAccess, body } = request
      const settings = await db.transaction(async (tx) => {
        const changed = await setOrganisationHold(tx, clock, orgAccess.orgId, body.reason)
        await recordRequestAudit(tx, context, request, 'privacy.hold', orgAccess.orgId, { reason: body.reason })
        return changed
      })
      return successResponse(body.reason === null ? 'Legal hold ended' : 'Legal hold started', settingsRecord(settings))
    },
  )

  app.get(
    '/orgs/:org/retention',
    { config: viewerConfig, schema: { response: { 200: success(RetentionRecord) } } },
    async ({ orgAccess }) => successResponse('Retention periods', await retentionRecord(db.queries, orgAccess.orgId)),
  )

  app.put(
    '/orgs/:org/retention',
    {
      config: { role: 'owner', recentSignIn: true },
      schema: { body: RetentionBody, response: { 200: success(RetentionRecord) } },
    },
    async (request) => {
      const { orgAccess, body } = request
      const record = await db.transaction(async (tx) => {
        await changeRetentionPeriods(tx, clock, orgAccess.orgId, body)
        await recordRequestAudit(tx, context, request, 'privacy.retention', orgAccess.orgId, body)
        return retentionRecord(tx, orgAccess.orgId)
      })
      return successResponse('Retention periods changed', record)
    },
  )

  app.get(
    '/orgs/:org/:mode/retention-preview',
    { config: viewerConfig, schema: { response: { 200: success(RetentionPreviewRecord) } } },
    async ({ caller }) => {
      const preview = await previewRetention(db.queries, clock, caller)
      return successResponse('Retention preview', { days: PREVIEW_DAYS, ...preview })
    },
  )

  app.put(
    '/orgs/:org/:mode/people/:person_id/hold',
    {
      config: { role: 'owner', recentSignIn: true },
      schema: { params: PersonHoldParams, body: HoldBody, response: { 200: success(PersonHoldRecord) } },
    },
    async (request) => {
      const { caller, params, body } = request
      const person = await db.transaction(async (tx) => {
        const held = await setPersonHold(tx, clock, caller, params.person_id, body.reason)
        await recordRequestAudit(tx, context, request, 'person.hold', params.person_id, { reason: body.reason })
        return held
      })
      return successResponse(body.reason === null ? 'Legal hold ended' : 'Legal hold started', person)
    },
  )

  app.get(
    '/orgs/:org/:mode/people/:person_id/records',
    {
      config: { role: 'owner' },
      schema: { params: PersonHoldParams, response: { 200: success(PersonRecordsRecord) } },
    },
    async ({ caller, params }) =>
      successResponse(
        'Records of the person',
        await findPersonRecords(db.queries, caller, params.person_id, clock.now()),
      ),
  )

  app.get(
    '/orgs/:org/:mode/privacy-requests',
    {
      config: viewerConfig,
      schema: { querystring: PageQuery, response: { 200: success(listOf(PrivacyRequestRecord)) } },
    },
    async ({ caller, query }) => {
      const page = await paginate(
        vault,
        'privacy requests',
        query,
        (before: string | undefined, limit) => listRequests(db.queries, caller, before, limit),
        ({ request_id }) => request_id,
        ({ created_at, confirmed_at, ...row }) => ({
          ...row,
          created_at: created_at.toISOString(),
          confirmed_at: confirmed_at?.toISOString() ?? null,
        }),
      )
      return successResponse('Privacy requests', page)
    },
  )
}

interface RequestRow {
  request_id: string
  person_id: string
  page: string
  action: string
  channel: string
  created_at: Date
  confirmed_at: Date | null
}

async function listRequests(
  queries: Queries,
  { orgId, mode }: { orgId: string; mode: string },
  before: string | undefined,
  limit: number,
): Promise<RequestRow[]> {
  const { rows } = await sql<RequestRow>`
    select request_id, person_id, subject_kind as page, action, channel, created_at, confirmed_at from privacy_requests
    where org_id = ${orgId} and mode = ${mode} and (${before ?? null}::text is null or request_id < ${before ?? null})
    order by request_id desc limit ${limit}`.execute(queries)
  return rows
}

async function retentionRecord(queries: Queries, orgId: string) {
  const periods = await getRetentionPeriods(queries, orgId)
  const bounds = await getRetentionBounds(queries)
  return {
    classes: retentionClasses.map((name) => ({
      class: name,
      description: RETENTION_RULES[name].description,
      days: periods[name],
      default_days: RETENTION_RULES[name].defaultDays,
      ...bounds[name],
    })),
  }
}

function settingsRecord({ legal_hold_at, contact_basis_declared_at, ...settings }: PrivacySettings) {
  return {
    ...settings,
    contact_basis_declared_at: contact_basis_declared_at?.toISOString() ?? null,
    legal_hold_at: legal_hold_at?.toISOString() ?? null,
  }
}
