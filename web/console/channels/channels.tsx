import { useState } from 'preact/hooks'
import type { ChannelOverview, ConsoleChannel, GoLiveStep } from '../../api-types/console.ts'
import type { MessageOverview } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import '../shared/forms.css'
import { Badge } from '../../ui/badge.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Unloaded } from '../../ui/unloaded.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { failureReason, failureRemedy } from '../shared/failure-reasons.ts'
import { channelName } from '../shared/labels.ts'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { ChannelForm, hasForm } from './channel-form.tsx'
import { DndCheck } from './dnd-check.tsx'
import { Spending } from './spending.tsx'
import { Templates } from './templates.tsx'
import { TestMessageForm } from './test-message-form.tsx'

/** The steps from TEST to LIVE, the channels with their problems, the registered texts, the message figures, and spending. */
export default function Channels() {
  const context = useOrgContext()
  const path = `/orgs/${context.org.org_id}/channels`
  const { data, error, set, reload } = useData<ChannelOverview>(path)
  return (
    <>
      <h1>{t('Channels')}</h1>
      <p class="soft">
        {t('The channels on which candidates are contacted in LIVE mode. TEST mode uses the simulator phone.')}
      </p>
      {error && <Notice kind="bad">{error.message}</Notice>}
      <h2>{t('Go live')}</h2>
      {data ? <Steps steps={data.steps} /> : !error && <Unloaded />}
      <h2>{t('Your channels')}</h2>
      {data?.channels.map((channel) => (
        <Channel key={channel.channel} path={path} channel={channel} onChanged={set} />
      ))}
      <h2>{t('Do-not-disturb check')}</h2>
      {data && <DndCheck check={data.dnd_check} onChanged={set} />}
      <h2>{t('Registered texts')}</h2>
      <Templates onChanged={() => void reload()} />
      <h2>{t('Messages of the last 30 days')}</h2>
      <Messages />
      <h2>{t('Spending')}</h2>
      <Spending onSaved={() => void reload()} />
    </>
  )
}

const STEP_TEXTS: Record<GoLiveStep['step'], { name: string; how: string; page?: string }> = {
  public_url: {
    name: t('The server has a public https address'),
    how: t('The operator sets PUBLIC_URL to the https address at which candidates reach this server.'),
  },
  channel: {
    name: t('A channel can send messages'),
    how: t('Set up one of the channels below. A channel with the status “refused” does not count.'),
  },
  webhook: {
    name: t('Replies and delivery reports arrive'),
    how: t(
      'Enter the webhook URL of each channel below at its provider. The step is done after the first request of each provider: for SMS by Twilio, send an SMS to your number.',
    ),
  },
  contact_basis: {
    name: t('The basis of contacts is declared'),
    how: t('State on the page Privacy why you may contact candidates, or send the consent of each candidate.'),
    page: '/privacy',
  },
  privacy_contact: {
    name: t('The privacy notice has a contact for complaints'),
    how: t('Enter an email address or a phone number on the page Privacy.'),
    page: '/privacy',
  },
  credits: { name: t('There are LIVE credits'), how: t('The operator grants LIVE credits. Each candidate costs one.') },
  mandate: {
    name: t('A job is ready in LIVE mode'),
    how: t('Switch to LIVE, and create a workflow and a job.'),
    page: '/mandates',
  },
  daily_cap: { name: t('A daily cap limits the cost'), how: t('Set a daily cap below, under Spending.') },
  dnd_check: {
    name: t('Numbers are checked against a do-not-disturb list'),
    how: t('Enter the URL of a service of your organisation below, under Do-not-disturb check.'),
  },
}

const WHO_TEXTS: Record<GoLiveStep['who'], string> = {
  operator: t('Who can do this: operator.'),
  owner: t('Who can do this: owner.'),
  recruiter: t('Who can do this: recruiter.'),
}

function Steps({ steps }: { steps: GoLiveStep[] }) {
  const context = useOrgContext()
  const open = steps.filter(({ done, required }) => required && !done)
  return (
    <section class="card stack" aria-label={t('Go live')}>
      <p role="status">
        {open.length === 0
          ? t('All required steps are done: you can start LIVE campaigns.')
          : t('{openCount} of {count} required steps are not done.', {
              openCount: open.length,
              count: steps.filter(({ required }) => required).length,
            })}
      </p>
      <ol class="go-live-steps">
        {steps.map(({ step, done, required, who }) => {
          const { name, how, page } = STEP_TEXTS[step]
          return (
            <li key={step}>
              <span class="go-live-step">
                <strong>{name}</strong> <Badge state={done ? 'completed' : required ? 'not_done' : 'recommended'} />
              </span>
              {!done && (
                <p class="soft small">
                  {how} {WHO_TEXTS[who]} {page && <Link to={context.pagePath(page)}>{t('Open the page')}</Link>}
                </p>
              )}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

interface ChannelProps {
  path: string
  channel: ConsoleChannel
  onChanged: (overview: ChannelOverview) => void
}

function Channel({ path, channel, onChanged }: ChannelProps) {
  const context = useOrgContext()
  const { channel: name, is_set_up, settings, findings, webhooks, webhook_called_at } = channel
  const [editing, setEditing] = useState(false)
  const [removing, setRemoving] = useState(false)
  const isOwner = context.can('owner')
  const isRefused = findings.some(({ severity }) => severity === 'refused')
  const shownSettings = Object.entries(settings).filter(([, value]) => typeof value !== 'object')
  return (
    <section class="card stack" aria-label={channelName(name)}>
      <div class="row between">
        <h3>
          {channelName(name)} <Badge state={!is_set_up ? 'not_set_up' : isRefused ? 'refused' : 'ready'} />
        </h3>
        {isOwner && !editing && (
          <span class="row">
            {hasForm(name) && (
              <button type="button" onClick={() => setEditing(true)}>
                {is_set_up ? t('Replace settings') : t('Set up')}
              </button>
            )}
            {hasForm(name) && Object.keys(settings).length > 0 && (
              <button type="button" onClick={() => setRemoving(true)}>
                {t('Remove')}
              </button>
            )}
          </span>
        )}
      </div>
      {name === 'email' && !is_set_up && (
        <p class="soft">{t('The operator sets up a mail server with the command “attestry channels set”.')}</p>
      )}
      {findings.map(({ severity, problem, remedy }) => (
        <Notice key={problem} kind={severity === 'refused' ? 'bad' : 'wait'}>
          {problem} {remedy}
        </Notice>
      ))}
      {shownSettings.length > 0 && (
        <p class="soft small">
          {shownSettings.map(([field, value]) => `${field.replaceAll('_', ' ')}: ${String(value)}`).join(', ')}
        </p>
      )}
      {webhooks.map((url) => (
        <p key={url}>
          {webhook_called_at === null
            ? t('Webhook URL, to be entered at the provider (not called yet):')
            : t('Webhook URL, to be entered at the provider (called by the provider):')}{' '}
          <CopyText text={url} label={t('webhook URL of {name}', { name: channelName(name) })} />
        </p>
      ))}
      {editing && (
        <ChannelForm
          path={`${path}/${name}`}
          channel={name}
          onClose={() => setEditing(false)}
          onSaved={(overview) => {
            setEditing(false)
            onChanged(overview)
          }}
        />
      )}
      {is_set_up && isOwner && !editing && <TestMessageForm path={`${path}/${name}/test`} channel={name} />}
      {removing && (
        <Confirm
          title={t('Remove {name}?', { name: channelName(name) })}
          action={t('Remove channel')}
          onClose={() => setRemoving(false)}
          act={async () => {
            const response = await api<ChannelOverview>(`${path}/${name}`, { method: 'DELETE' })
            if (response.ok) onChanged(response.data)
            return response
          }}
          onDone={() => {}}
        >
          <p>
            {t(
              'Its credentials are deleted, and no more messages are sent on it. Candidates are contacted on other channels.',
            )}
          </p>
        </Confirm>
      )}
    </section>
  )
}

const KIND_NAMES: Record<string, string> = {
  first_message: t('First message'),
  follow_up: t('Follow-up'),
  requested: t('Requested contact'),
  response: t('Response'),
  code: t('Confirmation code'),
}

/** Figures about LIVE messages by channel, kind and template, and the failures with what to do. */
function Messages() {
  const context = useOrgContext()
  const { data, error } = useData<MessageOverview>(context.apiPath('/analytics/messages'))
  if (error) return <Notice kind="bad">{error.message}</Notice>
  return (
    <>
      <Table
        caption={t('Messages by channel, kind and template')}
        rows={data?.messages}
        keyOf={({ channel, kind, template_id }) => `${channel} ${kind} ${template_id}`}
        empty={
          <p class="soft">
            {context.mode === 'test'
              ? t('In TEST mode, nothing is sent. Switch to LIVE to see the figures.')
              : t('No messages were sent in the last 30 days.')}
          </p>
        }
        columns={[
          { name: t('Channel'), cell: ({ channel }) => channelName(channel) },
          { name: t('Message'), cell: ({ kind }) => KIND_NAMES[kind] ?? kind },
          { name: t('Template'), cell: ({ template_id }) => template_id ?? '–' },
          { name: t('Sent'), right: true, cell: ({ sent }) => sent.toLocaleString(displayLocale()) },
          { name: t('Delivered'), right: true, cell: ({ delivered }) => delivered.toLocaleString(displayLocale()) },
          { name: t('Read'), right: true, cell: ({ read }) => read.toLocaleString(displayLocale()) },
          { name: t('Failed'), right: true, cell: ({ failed }) => failed.toLocaleString(displayLocale()) },
          {
            name: t('Blocked'),
            right: true,
            cell: ({ blocked_by_operator }) => blocked_by_operator.toLocaleString(displayLocale()),
          },
        ]}
      />
      {data && data.failures.length > 0 && (
        <Table
          caption={t('Failed messages by reason')}
          rows={data.failures}
          keyOf={({ channel, reason }) => `${channel} ${reason}`}
          empty={<p class="soft">{t('No failed messages.')}</p>}
          columns={[
            { name: t('Channel'), cell: ({ channel }) => channelName(channel) },
            { name: t('Failed'), right: true, cell: ({ count }) => count.toLocaleString(displayLocale()) },
            { name: t('Reason'), cell: ({ reason, title }) => failureReason(reason, title) },
            { name: t('What to do'), cell: ({ reason, remedy }) => failureRemedy(reason, remedy) },
          ]}
        />
      )}
    </>
  )
}
