import { runIdempotent } from '../../access/idempotency.ts'
import { problem } from '../../api/problem.ts'
import { dltCsv, whatsappRequest } from '../../channels/templates/export.ts'
import { readDltIds } from '../../channels/templates/import.ts'
import { listTemplates, removeTemplate, saveTemplates } from '../../channels/templates/register.ts'
import type { MessageTemplate } from '../../channels/templates/template.ts'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { successResponse } from '../schema.ts'
import {
  MessageTemplateList,
  TemplateBody,
  TemplateExport,
  TemplateExportParams,
  TemplateImportBody,
  TemplateParams,
} from './template-schema.ts'

/** Routes for the texts that an organisation has registered on a DLT portal or at WhatsApp. */
export function templateRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const viewerConfig = { role: 'viewer' } as const
  const ownerConfig = { role: 'owner', idempotent: 'optional' } as const

  app.get(
    '/orgs/:org/:mode/templates',
    { config: viewerConfig, schema: { response: { 200: success(MessageTemplateList) } } },
    async ({ caller }) => successResponse('Templates', templateList(await listTemplates(db.queries, caller))),
  )

  app.get(
    '/orgs/:org/:mode/templates/export/:channel',
    { config: viewerConfig, schema: { params: TemplateExportParams, response: { 200: success(TemplateExport) } } },
    async ({ caller, params: { channel } }) => {
      const templates = await listTemplates(db.queries, caller, channel)
      return successResponse(
        'Export',
        channel === 'sms'
          ? { file_name: 'sms-templates.csv', content: dltCsv(templates, {}) }
          : { file_name: 'whatsapp-templates.json', content: JSON.stringify(templates.map(whatsappRequest), null, 2) },
      )
    },
  )

  app.put(
    '/orgs/:org/:mode/templates/:channel/:purpose/:language',
    {
      config: ownerConfig,
      schema: { params: TemplateParams, body: TemplateBody, response: { 200: success(MessageTemplateList) } },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { channel, purpose, language } = request.params
        const saved = await saveTemplates(tx, clock, caller, [{ ...request.body, channel, purpose, language }])
        return { status: 200, body: successResponse('Template saved', templateList(saved)) }
      })
    },
  )

  app.delete(
    '/orgs/:org/:mode/templates/:channel/:purpose/:language',
    { config: ownerConfig, schema: { params: TemplateParams, response: { 200: success(MessageTemplateList) } } },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { channel, purpose, language } = request.params
        if (!(await removeTemplate(tx, caller, request.params)))
          throw problem('NOT_FOUND', `There is no ${channel} template for ${purpose} in ${language}.`)
        return {
          status: 200,
          body: successResponse('Template removed', templateList(await listTemplates(tx, caller, channel))),
        }
      })
    },
  )

  app.post(
    '/orgs/:org/:mode/templates/import',
    { config: ownerConfig, schema: { body: TemplateImportBody, response: { 200: success(MessageTemplateList) } } },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const inputs = readDltIds(request.body.csv, await listTemplates(tx, caller, 'sms'))
        const saved = await saveTemplates(tx, clock, caller, inputs)
        return { status: 200, body: successResponse('IDs imported', templateList(saved)) }
      })
    },
  )
}

function templateList(templates: MessageTemplate[]) {
  return {
    items: templates.map((template) => ({ ...template, checked_at: template.checked_at?.toISOString() ?? null })),
  }
}
