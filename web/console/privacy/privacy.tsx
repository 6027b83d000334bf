import { useState } from 'preact/hooks'
import type { PrivacyRequest, PrivacySettings, RetentionPreview } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Unloaded } from '../../ui/unloaded.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { PrivacyContactsForm } from './contacts-form.tsx'
import { RetentionForm } from './retention-form.tsx'

const ACTION_NAMES: Record<string, string> = {
  export: t('See the data'),
  correct: t('Correct the data'),
  erase: t('Erase the data'),
  withdraw: t('Withdraw consent'),
}

/** The contacts in the notice, the retention periods with a preview, the legal hold, and the requests that people made. */
export default function Privacy() {
  const context = useOrgContext()
  const settingsPath = `/orgs/${context.org.org_id}/privacy`
  const settings = useData<PrivacySettings>(settingsPath)
  const preview = useData<RetentionPreview>(context.apiPath('/retention-preview'))
  const isOwner = context.can('owner')
  return (
    <>
      <h1>{t('Privacy')}</h1>
      <p class="soft">
        {t(
          'The notice that candidates, students and reviewers see shows these contacts. On the same page, people can see, correct and erase their data.',
        )}
      </p>
      {settings.error && <Notice kind="bad">{settings.error.message}</Notice>}
      {!settings.data && !settings.error && <Unloaded />}
      {settings.data && (
        <PrivacyContactsForm
          path={settingsPath}
          settings={settings.data}
          isOwner={isOwner}
          onSaved={(saved) => {
            settings.set(saved)
            void preview.reload()
          }}
        />
      )}
      <h2>{t('Upcoming erasures')}</h2>
      {preview.error && <Notice kind="bad">{preview.error.message}</Notice>}
      {!preview.data && !preview.error && <Unloaded />}
      {preview.data && <Preview preview={preview.data} isHeld={settings.data?.legal_hold_at != null} />}
      <h2>{t('Retention periods')}</h2>
      <RetentionForm isOwner={isOwner} onSaved={() => void preview.reload()} />
      {settings.data && (
        <LegalHold path={`${settingsPath}/hold`} settings={settings.data} isOwner={isOwner} onChanged={settings.set} />
      )}
      <Requests />
    </>
  )
}

const MAX_DATES = 10

/** People who will be erased, by date, and the records of the other classes. */
function Preview({ preview, isHeld }: { preview: RetentionPreview; isHeld: boolean }) {
  const { people, due, days } = preview
  const laterCount = people.slice(MAX_DATES).reduce((sum, { count }) => sum + count, 0)
  return (
    <div class="card stack-tight">
      {isHeld && <Notice kind="wait">{t('A legal hold is active: nothing is erased until it ends.')}</Notice>}
      {people.length === 0 && <p>{t('No people will be erased in the next {days} days.', { days })}</p>}
      <ul>
        {people.slice(0, MAX_DATES).map(({ date, count }) => (
          <li key={date}>
            {count === 1
              ? t('1 person will be erased on {date}.', { date: formatDate(date) })
              : t('{count} people will be erased on {date}.', {
                  count: count.toLocaleString(displayLocale()),
                  date: formatDate(date),
                })}
          </li>
        ))}
        {laterCount > 0 && (
          <li>
            {t('{count} more people will be erased later in this period.', {
              count: laterCount.toLocaleString(displayLocale()),
            })}
          </li>
        )}
      </ul>
      <p class="soft small">
        {t(
          'Also erased in the next {days} days: messages of {conversations} candidates, answers of {answers} candidates, {mails} emails, {requestLog} entries of the request log, and personal values in {audit} entries of the audit log.',
          {
            days,
            conversations: due.conversations.toLocaleString(displayLocale()),
            answers: due.answers.toLocaleString(displayLocale()),
            mails: due.mails.toLocaleString(displayLocale()),
            requestLog: due.request_log.toLocaleString(displayLocale()),
            audit: due.audit.toLocaleString(displayLocale()),
          },
        )}
      </p>
    </div>
  )
}

function formatDate(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString(displayLocale() ?? 'en-GB', {
    dateStyle: 'long',
    timeZone: 'UTC',
  })
}

interface HoldProps {
  path: string
  settings: PrivacySettings
  isOwner: boolean
  onChanged: (settings: PrivacySettings) => void
}

function LegalHold({ path, settings, isOwner, onChanged }: HoldProps) {
  const [isOpen, setIsOpen] = useState(false)
  const [reason, setReason] = useState('')
  const isHeld = settings.legal_hold_at !== null
  return (
    <>
      <h2>{t('Legal hold')}</h2>
      <p>
        {isHeld
          ? richText('Active since {time}: {reason}', {
              time: <Time at={settings.legal_hold_at!} />,
              reason: settings.legal_hold_reason,
            })
          : t('No legal hold. Data is erased at the end of its retention period.')}
      </p>
      {isOwner && (
        <button type="button" onClick={() => setIsOpen(true)}>
          {isHeld ? t('End the legal hold') : t('Start a legal hold')}
        </button>
      )}
      {isOpen && (
        <Confirm
          title={isHeld ? t('End the legal hold?') : t('Start a legal hold?')}
          action={isHeld ? t('End the legal hold') : t('Start the legal hold')}
          onClose={() => setIsOpen(false)}
          act={async () => {
            const response = await api<PrivacySettings>(path, {
              method: 'PUT',
              body: { reason: isHeld ? null : reason },
            })
            if (response.ok) onChanged(response.data)
            return response
          }}
          onDone={() => setReason('')}
        >
          {isHeld ? (
            <p>{t('Data whose retention period has already ended is erased within the next hour.')}</p>
          ) : (
            <>
              <p>
                {t(
                  'No data is erased by retention periods until you end the hold. People can still erase their own data.',
                )}
              </p>
              <label>
                {t('Reason')}
                <input
                  type="text"
                  value={reason}
                  maxLength={500}
                  onInput={(event) => setReason(event.currentTarget.value)}
                />
              </label>
            </>
          )}
        </Confirm>
      )}
    </>
  )
}

/** The requests that people made on their pages. */
function Requests() {
  const context = useOrgContext()
  const list = useList<PrivacyRequest>(context.apiPath('/privacy-requests'))
  return (
    <>
      <h2>{t('Requests about personal data')}</h2>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Requests, newest first')}
        rows={list.items}
        keyOf={({ request_id }) => request_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          <p class="soft">{t('No requests yet. A request takes effect when the person confirms it with a code.')}</p>
        }
        columns={[
          { name: t('Request'), cell: ({ action }) => ACTION_NAMES[action] ?? action },
          {
            name: t('Person'),
            cell: ({ person_id }) =>
              context.can('owner') ? (
                <Link to={context.pagePath(`/people/${person_id}`)}>{person_id}</Link>
              ) : (
                <code>{person_id}</code>
              ),
          },
          { name: t('Page'), cell: ({ page }) => page },
          { name: t('Status'), cell: ({ confirmed_at }) => <Badge state={confirmed_at ? 'completed' : 'pending'} /> },
          { name: t('Requested'), cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  )
}
