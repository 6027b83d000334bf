import { Command, InvalidArgumentError } from 'commander'
import { problem } from '../../server/api/problem.ts'
import { removeDndCheck, requireDndUrl, setDndCheck } from '../../server/campaigns/dnd/dnd-check.ts'
import { type ChannelName, channelNames } from '../../server/channels/channel.ts'
import { checkChannel } from '../../server/channels/check.ts'
import {
  listAccounts,
  removeCredentials,
  saveCredentials,
  type TemplatedAccount,
} from '../../server/channels/credentials.ts'
import { redactSecrets, validateSettings } from '../../server/channels/settings.ts'
import { PLACEHOLDER_URL, webhookUrls } from '../../server/channels/webhook-urls.ts'
import { getPrivacySettings } from '../../server/notices/settings.ts'
import type { Queries } from '../../server/platform/database/database.ts'
import { parseJsonOrUndefined } from '../../server/platform/json.ts'
import { DATA_SOURCES, readData } from '../data-option.ts'
import { examples } from '../examples.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'
import { templatesCommand } from './channel-templates.ts'

interface Options {
  org: string
  channel: ChannelName
  data: string
}

export function channelsCommand(): Command {
  const channels = new Command('channels')
    .description('Manage the channels that live campaigns use to contact candidates')
    .addHelpText(...examples('channels set --org ORG_… --channel sms --data @twilio.json', 'channels list'))

  channels
    .command('set')
    .description('Set up a channel or replace its settings (takes effect immediately)')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--channel <channel>', channelNames.join(', '), parseChannel)
    .requiredOption(
      '--data <json>',
      `settings as JSON; ${DATA_SOURCES} (both keep secrets out of the shell history)`,
      readData,
    )
    .addHelpText(...examples('channels set --org ORG_… --channel whatsapp --data @whatsapp.json'))
    .action(async ({ org, channel, data }: Options, command: Command) => {
      const settings = validateSettings(channel, parseSettings(data))
      const savedChannel = await withStore(async ({ db, vault, clock, config }) => {
        await requireOrganisation(db.queries, org)
        const channelId = await db.transaction(async (tx) => {
          const savedId = await saveCredentials(tx, vault, clock, org, channel, settings)
          await recordCliChange(tx, clock, {
            orgId: org,
            action: 'channel.set',
            subject: savedId,
            details: { channel },
          })
          return savedId
        })
        return {
          channel_id: channelId,
          org_id: org,
          channel,
          webhooks: webhookUrls(channel, settings, channelId, config.publicUrl),
        }
      })
      print(command, savedChannel, () =>
        [
          fieldList([
            ['Channel', `${channel} (${savedChannel.channel_id})`],
            ['Organisation', org],
          ]),
          ...savedChannel.webhooks.map((hook) => `\nEnter this webhook URL at the provider:\n  ${hook}`),
          ...(savedChannel.webhooks.some((hook) => hook.startsWith(PLACEHOLDER_URL))
            ? [`PUBLIC_URL is not set: replace ${PLACEHOLDER_URL} with the public URL of the server.`]
            : []),
        ].join('\n'),
      )
    })

  channels
    .command('list')
    .description('List channels, without their secrets')
    .option('--org <org>', 'organisation ID, ORG_… (default: all organisations)')
    .addHelpText(...examples('channels list --org ORG_…'))
    .action(async ({ org }: Partial<Options>, command: Command) => {
      const channelRecords = await withStore(async ({ db, vault, config }) =>
        (await listAccounts(db.queries, vault, org)).map((account) => accountRecord(account, config.publicUrl)),
      )
      print(command, channelRecords, () =>
        table(
          ['CHANNEL', 'ORGANISATION', 'SENDER', 'PER SECOND', 'UPDATED', 'ID'],
          channelRecords.map((row) => [
            row.channel,
            row.org_id,
            senderName(row.settings),
            row.per_second ?? 'default',
            row.updated_at,
            row.channel_id,
          ]),
          'No channels yet. Set one up: npx attestry channels set --org ORG_… --channel whatsapp --data -',
        ),
      )
    })

  channels
    .command('check')
    .description('Check settings and registered texts against the rules for India, and list the problems')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addHelpText(...examples('channels check --org ORG_…'))
    .action(async ({ org }: Options, command: Command) => {
      const result = await withStore(async ({ db, vault, config }) => {
        await requireOrganisation(db.queries, org)
        const { contact_basis } = await getPrivacySettings(db.queries, org)
        const accounts = await listAccounts(db.queries, vault, org)
        return {
          org_id: org,
          contact_basis,
          channels: accounts.map(({ channel }) => channel),
          findings: accounts.flatMap((account) => checkChannel(account, config.publicUrl)),
        }
      })
      print(command, result, () =>
        [
          result.contact_basis === null
            ? 'No contact basis is declared: each LIVE candidate needs a consent. See npx attestry privacy settings --help.\n'
            : `Contact basis: ${result.contact_basis}\n`,
          result.channels.length === 0
            ? 'No channels are set up.'
            : table(
                ['CHANNEL', 'SEVERITY', 'PROBLEM', 'WHAT TO DO'],
                result.findings.map(({ channel, severity, problem, remedy }) => [channel, severity, problem, remedy]),
                `No problems found in ${result.channels.join(', ')}.`,
              ),
        ].join('\n'),
      )
    })

  const dndCheck = channels
    .command('dnd-check')
    .description(
      'Manage the service that checks LIVE phone numbers against a do-not-disturb (DND) list before the first contact',
    )
    .addHelpText(...examples('channels dnd-check set --org ORG_… --url https://dnd.example.com/check'))

  dndCheck
    .command('set')
    .description('Set up the DND check or replace it, and print the secret that signs its requests')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--url <url>', 'https URL of the service')
    .addHelpText(...examples('channels dnd-check set --org ORG_… --url https://dnd.example.com/check'))
    .action(async ({ org, url }: { org: string; url: string }, command: Command) => {
      const secret = await withStore(async ({ db, vault, clock, config }) => {
        await requireOrganisation(db.queries, org)
        await requireDndUrl({ config }, url)
        return db.transaction(async (tx) => {
          await recordCliChange(tx, clock, { orgId: org, action: 'dnd-check.set', details: { url } })
          return setDndCheck(tx, vault, clock, org, url)
        })
      })
      print(command, { org_id: org, url, secret }, () =>
        fieldList([
          ['Organisation', org],
          ['URL', url],
          ['Secret', `${secret} (shown only once)`],
        ]),
      )
    })

  dndCheck
    .command('remove')
    .description('Remove the DND check (candidates who wait for it are contacted without it)')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addHelpText(...examples('channels dnd-check remove --org ORG_…'))
    .action(async ({ org }: { org: string }, command: Command) => {
      const removed = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const isRemoved = await removeDndCheck(tx, org)
          if (isRemoved) await recordCliChange(tx, clock, { orgId: org, action: 'dnd-check.remove' })
          return isRemoved
        }),
      )
      if (!removed) throw problem('NOT_FOUND', `${org} has no DND check.`)
      print(command, { org_id: org, removed }, () => `Removed the DND check of ${org}.`)
    })

  channels
    .command('remove')
    .description('Remove a channel and delete its credentials (no more messages are sent on it)')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--channel <channel>', channelNames.join(', '), parseChannel)
    .addHelpText(...examples('channels remove --org ORG_… --channel sms'))
    .action(async ({ org, channel }: Options, command: Command) => {
      const removed = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const isRemoved = await removeCredentials(tx, org, channel)
          if (isRemoved)
            await recordCliChange(tx, clock, { orgId: org, action: 'channel.remove', details: { channel } })
          return isRemoved
        }),
      )
      if (!removed) throw problem('NOT_FOUND', `${org} has no ${channel} channel.`)
      print(command, { org_id: org, channel, removed }, () => `Removed the ${channel} channel of ${org}.`)
    })
  channels.addCommand(templatesCommand())
  return channels
}

function parseChannel(text: string): ChannelName {
  const name = channelNames.find((candidate) => candidate === text)
  if (!name) throw new InvalidArgumentError(`Expected one of ${channelNames.join(', ')}.`)
  return name
}

/** Parses the settings of a channel. Errors do not quote the text, because it contains secrets. */
function parseSettings(text: string): unknown {
  const settings = parseJsonOrUndefined(text)
  if (settings === undefined) throw problem('VALIDATION_FAILED', 'The value of --data is not valid JSON.')
  return settings
}

async function requireOrganisation(queries: Queries, orgId: string) {
  const organisation = await queries
    .selectFrom('organisations')
    .select('org_id')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  if (!organisation) throw problem('NOT_FOUND', `Organisation ${orgId} not found.`)
}

function accountRecord({ credentials, templates: _, ...account }: TemplatedAccount, publicUrl: string | undefined) {
  const { channel, channel_id } = account
  return {
    ...account,
    settings: redactSecrets(credentials),
    webhooks: webhookUrls(channel, credentials, channel_id, publicUrl),
  }
}

function senderName(settings: Record<string, unknown>): string {
  const sender = settings.from ?? settings.messaging_service_sid ?? settings.phone_number_id
  return typeof sender === 'string' ? sender : '-'
}
