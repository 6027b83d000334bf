import { runIdempotent } from '../access/idempotency.ts'
import type { Context } from '../context.ts'
import type { Queries } from '../platform/database/database.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { WorkflowInput, WorkflowParams, WorkflowRecord, WorkflowsQuery } from './schema.ts'
import {
  archiveWorkflow,
  createWorkflow,
  getWorkflow,
  listWorkflows,
  replaceWorkflow,
  type Workflow,
  workflowRecords,
} from './workflows.ts'

/** Routes for workflows: the methods, channels, languages and follow-ups that mandates share. */
export function workflowRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const readConfig = { scope: 'workflows:read', limit: 'reads', readsReplica: true } as const
  const writeConfig = { scope: 'workflows:write', limit: 'workflowWrites', idempotent: 'optional' } as const
  const tags = ['Workflows']

  app.get(
    '/workflows',
    {
      config: readConfig,
      schema: {
        operationId: 'listWorkflows',
        tags,
        summary: 'List workflows',
        description: 'Returns workflows, newest first, including archived ones.',
        querystring: WorkflowsQuery,
        response: { 200: success(listOf(WorkflowRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor } }) => {
      const listKey = `workflows ${caller.orgId} ${caller.mode}`
      const after = readCursor<string>(vault, listKey, cursor)
      const rows = await listWorkflows(db.queries, caller, { after, limit: limit + 1 })
      const items = await workflowRecords(db.queries, rows.slice(0, limit))
      const next_cursor = rows.length > limit ? writeCursor(vault, listKey, items.at(-1)!.workflow_id) : null
      return { success: true as const, message: 'Workflows', data: { items, next_cursor } }
    },
  )

  app.get(
    '/workflows/:workflow_id',
    {
      config: readConfig,
      schema: {
        operationId: 'getWorkflow',
        tags,
        summary: 'Get a workflow',
        params: WorkflowParams,
        response: { 200: success(WorkflowRecord) },
      },
    },
    async ({ caller, params }) =>
      workflowResponse(db.queries, 'Workflow', await getWorkflow(db.queries, caller, params.workflow_id)),
  )

  app.post(
    '/workflows',
    {
      config: writeConfig,
      schema: {
        operationId: 'createWorkflow',
        tags,
        summary: 'Create a workflow',
        description:
          'Only `name` is required. Defaults: all three methods, the channel `whatsapp`, the language `en`, no follow-ups.',
        body: WorkflowInput,
        response: { 201: success(WorkflowRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const createdWorkflow = await createWorkflow(tx, caller, clock, request.body, caller.via)
        return { status: 201, body: await workflowResponse(tx, 'Workflow created', createdWorkflow) }
      })
    },
  )

  app.put(
    '/workflows/:workflow_id',
    {
      config: { ...writeConfig, errors: ['CONFLICT'] },
      schema: {
        operationId: 'replaceWorkflow',
        tags,
        summary: 'Replace a workflow',
        description:
          'Send the complete workflow. Omitted fields are set to their defaults. Existing mandates keep their methods and questions.',
        params: WorkflowParams,
        body: WorkflowInput,
        response: { 200: success(WorkflowRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const replacedWorkflow = await replaceWorkflow(tx, caller, clock, request.params.workflow_id, request.body)
        return { status: 200, body: await workflowResponse(tx, 'Workflow replaced', replacedWorkflow) }
      })
    },
  )

  app.delete(
    '/workflows/:workflow_id',
    {
      config: { ...writeConfig, errors: ['WORKFLOW_IN_USE'] },
      schema: {
        operationId: 'archiveWorkflow',
        tags,
        summary: 'Archive a workflow',
        description: 'Fails with 409 `WORKFLOW_IN_USE` while a mandate that is not archived uses the workflow.',
        params: WorkflowParams,
        response: { 200: success(WorkflowRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const archivedWorkflow = await archiveWorkflow(tx, caller, clock, request.params.workflow_id)
        return { status: 200, body: await workflowResponse(tx, 'Workflow archived', archivedWorkflow) }
      })
    },
  )
}

async function workflowResponse(tx: Queries, message: string, workflow: Workflow) {
  const [data] = await workflowRecords(tx, [workflow])
  return { success: true as const, message, data: data! }
}
