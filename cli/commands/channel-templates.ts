import { writeFile } from 'node:fs/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import { getOrganisation } from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import { findCredentials } from '../../server/channels/credentials.ts'
import { closeProviderConnections } from '../../server/channels/provider.ts'
import type { WhatsAppSettings } from '../../server/channels/settings.ts'
import { defaultTexts } from '../../server/channels/templates/default-texts.ts'
import { dltCsv, type VariableTags, whatsappRequest } from '../../server/channels/templates/export.ts'
import { readDltIds } from '../../server/channels/templates/import.ts'
import {
  listTemplates,
  type RegistryReport,
  type ReportResult,
  recordReports,
  removeTemplate,
  saveTemplates,
  type TemplateInput,
  templateRule,
} from '../../server/channels/templates/register.ts'
import {
  type MessageTemplate,
  type TemplateChannel,
  type TemplatePurpose,
  templateChannels,
  templatePurposes,
  templateStatuses,
} from '../../server/channels/templates/template.ts'
import { createAtWhatsApp, fetchFromWhatsApp } from '../../server/channels/whatsapp/template-api.ts'
import { LANGUAGES } from '../../server/platform/text/languages.ts'
import { DATA_SOURCES, readData } from '../data-option.ts'
import { examples } from '../examples.ts'
import { print, table } from '../print.ts'
import { type CliStore, withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

const REQUEST_TIMEOUT_MS = 30_000

interface Options {
  org: string
  mode: 'test' | 'live'
  channel: TemplateChannel
  purpose: TemplatePurpose
  language: string
}

/** Manages the register of message texts that DLT portals and WhatsApp have approved. */
export function templatesCommand(): Command {
  return new Command('templates')
    .description('Manage the texts that are registered on a DLT portal (SMS) or at WhatsApp')
    .addHelpText(
      ...examples(
        'channels templates create --org ORG_… --channel sms --header ACMEJB',
        'channels templates export --org ORG_… --channel sms --output templates.csv',
        'channels templates import --org ORG_… --data @approved.csv',
      ),
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(removeCommand())
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(submitCommand())
    .addCommand(refreshCommand())
}

function createCommand(): Command {
  return templateCommand('create')
    .description('Add the built-in texts in every language as drafts; existing templates stay unchanged')
    .addOption(channelOption())
    .option('--company <name>', 'name of the organisation in the texts (default: its name in Attestry)')
    .option('--header <header>', 'registered sender of the SMS')
    .option('--category <category>', 'category of the messages, such as service_explicit or utility')
    .addHelpText(...examples('channels templates create --org ORG_… --channel whatsapp --category utility'))
    .action(
      async (
        {
          org,
          mode,
          channel,
          company,
          header,
          category,
        }: Options & { company?: string; header?: string; category?: string },
        command: Command,
      ) => {
        const created = await withStore(async ({ db, clock }) => {
          const { name } = await getOrganisation(db.queries, org)
          const texts = defaultTexts(channel, company ?? name, templateRule(channel), category)
          return db.transaction(async (tx) => {
            const scope = { orgId: org, mode }
            const existing = new Set((await listTemplates(tx, scope, channel)).map(templateKey))
            const inputs = texts
              .filter((text) => !existing.has(templateKey(text)))
              .map((text) => ({ ...text, ...(header === undefined ? {} : { header }) }))
            const templates = await saveTemplates(tx, clock, scope, inputs)
            await recordCliChange(tx, clock, {
              orgId: org,
              action: 'templates.create',
              details: { channel, mode, count: templates.length },
            })
            return templates
          })
        })
        print(command, created.map(templateRecord), () =>
          created.length === 0
            ? 'All templates exist already.'
            : `Created ${created.length} drafts. Review them with "channels templates list", then export or submit them.`,
        )
      },
    )
}

function listCommand(): Command {
  return templateCommand('list')
    .description('List the templates with their status')
    .addOption(channelOption(false))
    .addHelpText(...examples('channels templates list --org ORG_… --channel whatsapp'))
    .action(async ({ org, mode, channel }: Options, command: Command) => {
      const templates = await withStore(async ({ db }) => {
        await getOrganisation(db.queries, org)
        return listTemplates(db.queries, { orgId: org, mode }, channel)
      })
      print(command, templates.map(templateRecord), () =>
        table(
          ['CHANNEL', 'PURPOSE', 'LANGUAGE', 'STATUS', 'QUALITY', 'ID', 'TEXT'],
          templates.map((each) => [
            each.channel,
            each.purpose,
            each.language,
            each.status_reason ? `${each.status} (${each.status_reason})` : each.status,
            each.quality ?? '-',
            each.registry_id ?? '-',
            each.text.replaceAll('\n', ' '),
          ]),
          'No templates yet. Create them: npx attestry channels templates create --org ORG_… --channel sms',
        ),
      )
    })
}

function setCommand(): Command {
  return templateCommand('set')
    .description('Add a template, or change its text, ID, sender or status')
    .addOption(channelOption())
    .addOption(purposeOption())
    .addOption(languageOption())
    .option('--text <text>', 'registered text with {title}, {link} and other variables (default: unchanged)')
    .option('--id <id>', 'ID that the DLT portal or WhatsApp assigned; the template is then approved')
    .option('--header <header>', 'registered sender of the SMS')
    .option('--category <category>', 'category, such as service_explicit or utility')
    .option('--name <name>', 'name at the registry')
    .addOption(new Option('--status <status>', 'status at the registry').choices(templateStatuses))
    .addHelpText(
      ...examples(
        'channels templates set --org ORG_… --channel sms --purpose invitation --language en --id 1107000000000000001',
      ),
    )
    .action(
      async (
        options: Options &
          Pick<TemplateInput, 'header' | 'category' | 'name' | 'status'> & { text?: string; id?: string },
        command: Command,
      ) => {
        const { org, mode, channel, purpose, language, text, id, header, category, name, status } = options
        const [saved] = await withStore(async ({ db, clock }) => {
          await getOrganisation(db.queries, org)
          return db.transaction(async (tx) => {
            const scope = { orgId: org, mode }
            const key = templateKey({ channel, purpose, language })
            const stored = (await listTemplates(tx, scope, channel)).find((each) => templateKey(each) === key)
            if (text === undefined && stored === undefined)
              throw problem('VALIDATION_FAILED', `There is no template for ${key} yet. Add its text with --text.`)
            const saved = await saveTemplates(tx, clock, scope, [
              {
                channel,
                purpose,
                language,
                text: text ?? stored!.text,
                registry_id: id,
                header,
                category,
                name,
                status,
              },
            ])
            await recordCliChange(tx, clock, { orgId: org, action: 'templates.set', details: { template: key, mode } })
            return saved
          })
        })
        print(command, templateRecord(saved!), () => `Saved ${templateKey(saved!)}, which is ${saved!.status}.`)
      },
    )
}

function removeCommand(): Command {
  return templateCommand('remove')
    .description('Remove a template from the register')
    .addOption(channelOption())
    .addOption(purposeOption())
    .addOption(languageOption())
    .addHelpText(...examples('channels templates remove --org ORG_… --channel sms --purpose follow_up --language hi'))
    .action(async ({ org, mode, channel, purpose, language }: Options, command: Command) => {
      const key = templateKey({ channel, purpose, language })
      const isRemoved = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const removed = await removeTemplate(tx, { orgId: org, mode }, { channel, purpose, language })
          if (removed)
            await recordCliChange(tx, clock, {
              orgId: org,
              action: 'templates.remove',
              details: { template: key, mode },
            })
          return removed
        }),
      )
      if (!isRemoved) throw problem('NOT_FOUND', `${org} has no template for ${key}.`)
      print(command, { org_id: org, channel, purpose, language, removed: true }, () => `Removed ${key}.`)
    })
}

function exportCommand(): Command {
  return templateCommand('export')
    .description('Export the texts: SMS as CSV for DLT portals, WhatsApp as JSON for its template API')
    .addOption(channelOption())
    .addOption(
      new Option(
        '--tags <tags>',
        'variables in the CSV: {#alphanumeric#} and others, or {#var#} (default: by the rules)',
      ).choices(['typed', 'untyped']),
    )
    .option('--output <file>', 'write to a file instead of standard output')
    .addHelpText(...examples('channels templates export --org ORG_… --channel sms --output templates.csv'))
    .action(
      async (
        { org, mode, channel, tags, output }: Options & { tags?: VariableTags; output?: string },
        command: Command,
      ) => {
        const { templates, header } = await withStore(async ({ db, vault }) => {
          await getOrganisation(db.queries, org)
          const settings = (await findCredentials(db.queries, vault, org, channel)) as { from?: string } | undefined
          return {
            templates: await listTemplates(db.queries, { orgId: org, mode }, channel),
            header: settings?.from,
          }
        })
        if (templates.length === 0)
          throw problem(
            'NOT_FOUND',
            `${org} has no ${channel} templates. Create them with "channels templates create".`,
          )
        const text =
          channel === 'sms'
            ? dltCsv(templates, { ...(header ? { header } : {}), ...(tags ? { tags } : {}) })
            : `${JSON.stringify(templates.map(whatsappRequest), null, 2)}\n`
        if (output === undefined) return void process.stdout.write(text)
        await writeFile(output, text)
        print(command, { output, count: templates.length }, () => `Wrote ${templates.length} templates to ${output}.`)
      },
    )
}

function importCommand(): Command {
  return templateCommand('import')
    .description('Import the IDs of approved SMS templates from a CSV file of a DLT portal')
    .requiredOption('--data <csv>', `CSV with the columns Template Name and Template ID; ${DATA_SOURCES}`, readData)
    .addHelpText(...examples('channels templates import --org ORG_… --data @approved.csv'))
    .action(async ({ org, mode, data }: Options & { data: string }, command: Command) => {
      const imported = await withStore(async ({ db, clock }) => {
        await getOrganisation(db.queries, org)
        return db.transaction(async (tx) => {
          const scope = { orgId: org, mode }
          const inputs = readDltIds(data, await listTemplates(tx, scope, 'sms'))
          const templates = await saveTemplates(tx, clock, scope, inputs)
          await recordCliChange(tx, clock, {
            orgId: org,
            action: 'templates.import',
            details: { mode, count: templates.length },
          })
          return templates
        })
      })
      print(command, imported.map(templateRecord), () => `Imported ${imported.length} templates.`)
    })
}

function submitCommand(): Command {
  return templateCommand('submit')
    .description('Create the drafts at WhatsApp, which then reviews them')
    .addHelpText(...examples('channels templates submit --org ORG_…'))
    .action(async ({ org, mode }: Options, command: Command) => {
      const result = await withStore((store) =>
        withWhatsApp(store, org, async (settings) => {
          const templates = await listTemplates(store.db.queries, { orgId: org, mode }, 'whatsapp')
          const submitted: RegistryReport[] = []
          for (const template of templates.filter(({ status }) => status === 'draft')) {
            const report = await createAtWhatsApp(settings, template, AbortSignal.timeout(REQUEST_TIMEOUT_MS))
            // Stored one by one, so that an error does not lose the IDs of the templates before it.
            await recordWhatsAppReports(store, { org, mode, action: 'templates.submit' }, [report])
            submitted.push(report)
          }
          return submitted
        }),
      )
      print(command, result, () =>
        result.length === 0
          ? 'There are no drafts of WhatsApp templates.'
          : `Submitted ${result.length} templates. Read their status with "channels templates refresh".`,
      )
    })
}

function refreshCommand(): Command {
  return templateCommand('refresh')
    .description('Read the status and quality of the templates from WhatsApp')
    .addHelpText(...examples('channels templates refresh --org ORG_…'))
    .action(async ({ org, mode }: Options, command: Command) => {
      const updated = await withStore((store) =>
        withWhatsApp(store, org, async (settings) => {
          const reports = await fetchFromWhatsApp(settings, AbortSignal.timeout(REQUEST_TIMEOUT_MS))
          const { updated, different } = await recordWhatsAppReports(
            store,
            { org, mode, action: 'templates.refresh' },
            reports,
          )
          return {
            reported: reports.length,
            updated,
            different: different.map(({ name, languageCode }) => `${name} (${languageCode})`),
          }
        }),
      )
      print(command, updated, () =>
        [
          `Updated ${updated.updated} templates; WhatsApp has ${updated.reported}.`,
          ...(updated.different.length === 0
            ? []
            : [
                `WhatsApp has another text for ${updated.different.join(', ')}. Copy its text with "channels templates set --text", or submit the text of the register under a new name.`,
              ]),
        ].join('\n'),
      )
    })
}

async function withWhatsApp<T>(
  { db, vault }: CliStore,
  org: string,
  action: (settings: WhatsAppSettings) => Promise<T>,
): Promise<T> {
  await getOrganisation(db.queries, org)
  const settings = (await findCredentials(db.queries, vault, org, 'whatsapp')) as WhatsAppSettings | undefined
  if (!settings) throw problem('NOT_FOUND', `${org} has no whatsapp channel. Set it up with "channels set".`)
  try {
    return await action(settings)
  } finally {
    await closeProviderConnections()
  }
}

function recordWhatsAppReports(
  { db, clock }: CliStore,
  { org, mode, action }: { org: string; mode: Options['mode']; action: string },
  reports: RegistryReport[],
): Promise<ReportResult> {
  return db.transaction(async (tx) => {
    const result = await recordReports(tx, clock, { orgId: org, mode }, reports)
    await recordCliChange(tx, clock, { orgId: org, action, details: { mode, count: result.updated } })
    return result
  })
}

function templateCommand(name: string): Command {
  return new Command(name)
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addOption(new Option('--mode <mode>', 'mode of the templates').choices(['live', 'test']).default('live'))
}

function channelOption(isRequired = true): Option {
  return new Option('--channel <channel>', templateChannels.join(', '))
    .choices(templateChannels)
    .makeOptionMandatory(isRequired)
}

function purposeOption(): Option {
  return new Option('--purpose <purpose>', 'the message that the text is for')
    .choices(templatePurposes)
    .makeOptionMandatory()
}

function languageOption(): Option {
  return new Option('--language <language>', 'language of the text')
    .argParser((text: string) => {
      if (!LANGUAGES.some((language) => language === text))
        throw new InvalidArgumentError(`Expected one of ${LANGUAGES.join(', ')}.`)
      return text
    })
    .makeOptionMandatory()
}

function templateKey({ channel, purpose, language }: Pick<MessageTemplate, 'channel' | 'purpose' | 'language'>) {
  return `${channel} ${purpose} ${language}`
}

function templateRecord(template: MessageTemplate) {
  return { ...template, checked_at: template.checked_at?.toISOString() ?? null }
}
