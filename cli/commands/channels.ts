import { Command, InvalidArgumentError } from 'commander'
import { problem } from '../../server/api/problem.ts'
import { type ChannelName, channelNames } from '../../server/channels/channel.ts'
import { type Account, listAccounts, removeCredentials, saveCredentials } from '../../server/channels/credentials.ts'
import { requireSettings, withoutSecrets } from '../../server/channels/settings.ts'
import type { Queries } from '../../server/platform/database/database.ts'
import { dataText } from '../data-option.ts'
import { examples } from '../examples.ts'
import { facts, print, table } from '../print.ts'
import { withStore } from '../store.ts'

interface Options {
  org: string
  channel: ChannelName
  data: string
}

export function channelsCommand(): Command {
  const channels = new Command('channels')
    .description('how LIVE campaigns of an organisation reach people')
    .addHelpText(...examples('channels set --org ORG_… --channel sms --data @twilio.json', 'channels list'))

  channels
    .command('set')
    .description('set up a channel, or exchange its credentials; in force at once')
    .requiredOption('--org <org>', 'ORG_…')
    .requiredOption('--channel <channel>', channelNames.join(', '), channelName)
    .requiredOption(
      '--data <json>',
      'its settings; @file reads them from a file, - from standard input, which keeps them out of the history',
      dataText,
    )
    .addHelpText(...examples('channels set --org ORG_… --channel whatsapp --data @whatsapp.json'))
    .action(async ({ org, channel, data }: Options, command: Command) => {
      const settings = requireSettings(channel, parsed(data))
      const saved = await withStore(async ({ db, vault, clock, config }) => {
        await requireOrganisation(db.queries, org)
        const channelId = await db.transaction((tx) => saveCredentials(tx, vault, clock, org, channel, settings))
        return { channel_id: channelId, org_id: org, channel, webhooks: hooksOf(channel, channelId, config.publicUrl) }
      })
      print(command, saved, () =>
        [
          facts([
            ['Channel', `${channel} (${saved.channel_id})`],
            ['Organisation', org],
          ]),
          ...saved.webhooks.map((hook) => `\nGive this address to the provider:\n  ${hook}`),
        ].join('\n'),
      )
    })

  channels
    .command('list')
    .description('the channels that are set up, without their secrets')
    .option('--org <org>', 'ORG_…; of all organisations where it is left out')
    .addHelpText(...examples('channels list --org ORG_…'))
    .action(async ({ org }: Partial<Options>, command: Command) => {
      const all = await withStore(async ({ db, vault, config }) =>
        (await listAccounts(db.queries, vault, org)).map((account) => shown(account, config.publicUrl)),
      )
      print(command, all, () =>
        table(
          ['CHANNEL', 'ORGANISATION', 'SENDER', 'PER SECOND', 'UPDATED', 'ID'],
          all.map((row) => [
            row.channel,
            row.org_id,
            senderOf(row.settings),
            row.per_second ?? 'usual',
            row.updated_at,
            row.channel_id,
          ]),
          'No channels are set up yet: npx attestry channels set --org ORG_… --channel whatsapp --data -',
        ),
      )
    })

  channels
    .command('remove')
    .description('forget the credentials; nothing more is sent on the channel')
    .requiredOption('--org <org>', 'ORG_…')
    .requiredOption('--channel <channel>', channelNames.join(', '), channelName)
    .addHelpText(...examples('channels remove --org ORG_… --channel sms'))
    .action(async ({ org, channel }: Options, command: Command) => {
      const removed = await withStore(({ db }) => db.transaction((tx) => removeCredentials(tx, org, channel)))
      if (!removed) throw problem('NOT_FOUND', `${org} has no ${channel} channel.`)
      print(command, { org_id: org, channel, removed }, () => `The ${channel} channel of ${org} is removed.`)
    })
  return channels
}

function channelName(text: string): ChannelName {
  const name = channelNames.find((each) => each === text)
  if (!name) throw new InvalidArgumentError(`Expected one of ${channelNames.join(', ')}.`)
  return name
}

/** Nothing of the text is repeated: it holds secrets. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw problem('VALIDATION_FAILED', 'The data is not valid JSON.')
  }
}

async function requireOrganisation(queries: Queries, orgId: string) {
  const known = await queries
    .selectFrom('organisations')
    .select('org_id')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  if (!known) throw problem('NOT_FOUND', `There is no organisation ${orgId}.`)
}

/** What the provider is told by hand; it is given the other addresses with each message. */
function hooksOf(channel: ChannelName, channelId: string, publicUrl: string | undefined): string[] {
  const base = `${(publicUrl ?? 'https://your-public-address').replace(/\/+$/, '')}/hooks`
  if (channel === 'whatsapp') return [`${base}/whatsapp/${channelId}`]
  return channel === 'sms' ? [`${base}/twilio/${channelId}/sms`] : []
}

function shown({ credentials, ...account }: Account, publicUrl: string | undefined) {
  const { channel, channel_id } = account
  return { ...account, settings: withoutSecrets(credentials), webhooks: hooksOf(channel, channel_id, publicUrl) }
}

function senderOf(settings: Record<string, unknown>): string {
  const sender = settings.from ?? settings.messaging_service_sid ?? settings.phone_number_id
  return typeof sender === 'string' ? sender : '-'
}
