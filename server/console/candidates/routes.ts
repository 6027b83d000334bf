import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { type Clock, HOUR } from '../../platform/clock.ts'
import type { Queries } from '../../platform/database/database.ts'
import { PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { ResultsQuery } from '../../results/schema.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { loadMemberNames } from '../auth/member-names.ts'
import { findMemberByEmail } from '../auth/members.ts'
import { addNotifications } from '../notifications/notifications.ts'
import { countedListOf, paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { assignCandidates, loadAssigneeNames } from './assignments.ts'
import {
  type CandidateFilter,
  type CandidatePosition,
  candidateSorts,
  decideOnCandidates,
  decisions,
  type ListedRow,
  listCandidatePage,
  refreshCandidateList,
} from './candidate-list.ts'
import { candidateRecords, listedRecord } from './records.ts'
import { verdictFilters } from './recruiter-result.ts'
import { AssignmentInput, CandidateParams, DecisionInput, DecisionResult, ListedCandidateRecord } from './schema.ts'

const { campaign_id, mandate_id, job_id, status } = ResultsQuery.properties

export const SearchText = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'The beginning of names, the end of a phone number, or a whole ID or email address.',
  }),
)

/** Filters of the list of candidates. */
const CandidateFilters = Type.Object({
  q: SearchText,
  campaign_id,
  mandate_id,
  job_id,
  status,
  verdict: Type.Optional(Type.Enum([...verdictFilters])),
  decision: Type.Optional(Type.Enum([...decisions, 'none'])),
  assigned_to: Type.Optional(
    Type.String({
      pattern: '^(me|none|MB_[A-Z0-9]{10,40})$',
      description: 'The ID of a member, `me` for the signed-in member, or `none` for candidates who are not assigned.',
    }),
  ),
  changed_within_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 8760 })),
})

/** Filters of the export: the filters of the list, and the IDs of selected candidates. */
export const ExportFilters = Type.Object({
  ...CandidateFilters.properties,
  candidate_ids: Type.Optional(
    Type.String({
      pattern: '^CD_[A-Z0-9]{10,40}(,CD_[A-Z0-9]{10,40}){0,399}$',
      description: 'IDs, separated by commas.',
    }),
  ),
})

const CandidatesQuery = Type.Object({
  ...CandidateFilters.properties,
  ...PageQuery.properties,
  sort: Type.Enum([...candidateSorts], { default: 'updated' }),
})

export function candidateFilter(
  { changed_within_hours: hours, candidate_ids, ...filter }: Static<typeof ExportFilters>,
  clock: Clock,
): CandidateFilter {
  const ids = candidate_ids === undefined ? {} : { candidate_ids: candidate_ids.split(',') }
  return { ...filter, ...ids, ...(hours === undefined ? {} : { updated_after: new Date(clock.now() - hours * HOUR) }) }
}

/** Replaces `me` in the filter of the assignee by the ID of the signed-in member. Operators who are not members have no candidates. */
export async function resolveAssignee<T extends { assigned_to?: string | undefined }>(
  queries: Queries,
  { orgAccess, session }: Pick<FastifyRequest, 'orgAccess' | 'session'>,
  filters: T,
): Promise<T> {
  if (filters.assigned_to !== 'me') return filters
  const member = await findMemberByEmail(queries, orgAccess.orgId, session.email)
  return { ...filters, assigned_to: member?.member_id ?? 'not a member' }
}

/** Lists candidates with their results, phone numbers and email addresses, and stores the decisions of recruiters. */
export function candidateListRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context

  app.get(
    '/orgs/:org/:mode/recruiter-results',
    {
      config: { role: 'viewer', readsReplica: true },
      schema: { querystring: CandidatesQuery, response: { 200: success(countedListOf(ListedCandidateRecord)) } },
    },
    async (request) => {
      const { caller } = request
      const { limit, cursor, sort, ...query } = request.query
      const filters = await resolveAssignee(db.queries, request, query)
      const isComplete = await refreshCandidateList(context, caller)
      const filter = candidateFilter(filters, clock)
      let counted: { total: number | null; is_more?: boolean } = { total: null }
      const page = await paginate(
        vault,
        `people ${JSON.stringify([Object.entries(filters).sort(), sort])}`,
        { limit, ...(cursor === undefined ? {} : { cursor }) },
        async (after: CandidatePosition | undefined, pageLimit) => {
          const { rows, total, is_more } = await listCandidatePage(db.queries, context, caller, filter, {
            sort,
            after,
            limit: pageLimit,
          })
          // The console keeps the total of the first page when it loads more pages.
          if (after === undefined && total !== undefined) counted = { total, is_more: is_more === true }
          return rows
        },
        ({ position }) => position,
        (row) => row,
      )
      const items = await listedRecords(caller.orgId, page.items)
      return successResponse('Candidates', {
        items,
        next_cursor: page.next_cursor,
        ...counted,
        is_complete: isComplete,
      })
    },
  )

  app.get(
    '/orgs/:org/:mode/recruiter-results/:candidate_id',
    {
      config: { role: 'viewer' },
      schema: { params: CandidateParams, response: { 200: success(ListedCandidateRecord) } },
    },
    async ({ caller, params: { candidate_id } }) => {
      await refreshCandidateList(context, caller)
      const { rows } = await listCandidatePage(
        db.queries,
        context,
        caller,
        { candidate_ids: [candidate_id] },
        { sort: 'updated', after: undefined, limit: 1 },
      )
      const [record] = await listedRecords(caller.orgId, rows)
      if (!record) throw problem('NOT_FOUND', `Candidate ${candidate_id} not found.`)
      return successResponse('Candidate', record)
    },
  )

  app.post(
    '/orgs/:org/:mode/recruiter-results/decisions',
    { config: { role: 'recruiter' }, schema: { body: DecisionInput, response: { 200: success(DecisionResult) } } },
    async (request) => {
      const { caller, body, session } = request
      const { candidate_ids, decision, note } = body
      const ids = await db.transaction(async (tx) => {
        const changedIds = await decideOnCandidates(tx, context, caller, session.email, candidate_ids, {
          decision,
          note,
        })
        const details = {
          count: changedIds.length,
          ...(decision === undefined ? {} : { decision: decision ?? 'none' }),
        }
        await recordRequestAudit(
          tx,
          context,
          request,
          'candidates.decide',
          changedIds.length === 1 ? changedIds[0] : undefined,
          { ...details, ...(note === undefined ? {} : { note: note ? 'changed' : 'removed' }) },
        )
        return changedIds
      })
      return successResponse('Candidates changed', { candidate_ids: ids })
    },
  )

  app.post(
    '/orgs/:org/:mode/recruiter-results/assignments',
    { config: { role: 'recruiter' }, schema: { body: AssignmentInput, response: { 200: success(DecisionResult) } } },
    async (request) => {
      const { caller, body, session } = request
      const { candidate_ids, member_id } = body
      const ids = await db.transaction(async (tx) => {
        const changedIds = await assignCandidates(tx, caller, candidate_ids, member_id)
        if (changedIds.length === 0) return changedIds
        await recordRequestAudit(
          tx,
          context,
          request,
          'candidates.assign',
          changedIds.length === 1 ? changedIds[0] : undefined,
          { count: changedIds.length, member_id },
        )
        const self = await findMemberByEmail(tx, caller.orgId, session.email)
        if (member_id !== null && member_id !== self?.member_id)
          await addNotifications(tx, clock, caller, [
            { type: 'candidates_assigned', subject: member_id, count: changedIds.length },
          ])
        return changedIds
      })
      return successResponse('Candidates assigned', { candidate_ids: ids })
    },
  )

  /** Returns the records of listed candidates, with the names of the members who decided and to whom they are assigned. */
  async function listedRecords(orgId: string, rows: ListedRow[]) {
    const records = (await candidateRecords(db.queries, rows)).map(listedRecord)
    const decidedBy = records.map(({ decided_by }) => decided_by)
    const assignedTo = records.map(({ assigned_to }) => assigned_to)
    const nameOf = await loadMemberNames(db.queries, orgId, decidedBy)
    const assigneeNameOf = await loadAssigneeNames(db.queries, orgId, assignedTo)
    return records.map((record) => ({
      ...record,
      decided_by_name: nameOf(record.decided_by),
      assigned_to_name: assigneeNameOf(record.assigned_to),
    }))
  }
}
