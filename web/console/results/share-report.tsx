import { useState } from 'preact/hooks'
import type { NewReportLink, ReportLink } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { type OrgContext, useOrgContext } from '../shell/session.ts'
import './results.css'
import './share-report.css'

interface Props {
  candidateId: string
  name: string
}

/** Returns the address of the report of a candidate as a PDF file. */
export function reportPdfUrl(context: OrgContext, candidateId: string): string {
  return `/console/api${context.apiPath(`/candidates/${candidateId}/report.pdf`)}`
}

/** Button that shares the report of a candidate. */
export function ShareReport({ candidateId, name }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        {t('Share report')}
      </button>
      {isOpen && <ShareDialog candidateId={candidateId} name={name} onClose={() => setIsOpen(false)} />}
    </>
  )
}

const VALIDITY_DAYS = [1, 7, 30] as const
const DEFAULT_DAYS = 7

/** Creates links to a report, and lists and revokes the valid ones. */
function ShareDialog({ candidateId, name, onClose }: Props & { onClose: () => void }) {
  const context = useOrgContext()
  const path = context.apiPath(`/candidates/${candidateId}/report-links`)
  const list = useData<{ items: ReportLink[] }>(path)
  const [days, setDays] = useState<number>(DEFAULT_DAYS)
  const [created, setCreated] = useState<NewReportLink>()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const shownError = error ?? list.error
  const links = list.data?.items
  return (
    <Dialog title={t('Share the report of {name}', { name })} onClose={onClose}>
      <p>
        {t(
          'Everyone who has the link can open the report without an account. It shows verdicts and answers, and no phone number or email address.',
        )}
      </p>
      {shownError && <Notice kind="bad">{shownError.message}</Notice>}
      <form
        class="row share-form"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <label>
          {t('Valid for')}{' '}
          <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {VALIDITY_DAYS.map((value) => (
              <option key={value} value={value}>
                {value === 1 ? t('1 day') : t('{count} days', { count: value })}
              </option>
            ))}
          </select>
        </label>
        <SubmitButton class="primary" busy={busy}>
          {t('Create link')}
        </SubmitButton>
      </form>
      {created && (
        <Notice kind="good">
          <p>
            {richText('Copy the link now: it is not shown again. It works until {time}.', {
              time: <Time at={created.expires_at} />,
            })}
          </p>
          <div class="share-created">
            <CopyText text={created.url} label={t('link to the report')} />
          </div>
        </Notice>
      )}
      <section class="stack-tight" aria-label={t('Current links')} aria-busy={list.loading}>
        <h3>{t('Current links')}</h3>
        {links?.length === 0 && <p class="soft">{t('The report is not shared.')}</p>}
        <ul class="verdicts share-links">
          {links?.map((link) => (
            <li key={link.link_id} class="row between">
              <div>
                <div>{richText('Expires {time}', { time: <Time at={link.expires_at} /> })}</div>
                <div class="soft small">
                  {richText('Created {time} by {createdBy}', {
                    time: <Time at={link.created_at} />,
                    createdBy: link.created_by,
                  })}
                </div>
                <div class="soft small">
                  {link.last_opened_at
                    ? richText(
                        link.times_opened === 1 ? 'Opened once, last {time}' : 'Opened {count} times, last {time}',
                        {
                          count: link.times_opened.toLocaleString(displayLocale()),
                          time: <Time at={link.last_opened_at} />,
                        },
                      )
                    : t('Not opened yet')}
                </div>
              </div>
              <button type="button" class="small-button" onClick={() => void revoke(link)}>
                {t('Revoke')}
              </button>
            </li>
          ))}
        </ul>
      </section>
    </Dialog>
  )

  async function create() {
    setBusy(true)
    const response = await api<NewReportLink>(path, { body: { days } })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    setCreated(response.ok ? response.data : undefined)
    await list.reload()
  }

  async function revoke({ link_id }: ReportLink) {
    const response = await api(`${path}/${link_id}`, { method: 'DELETE' })
    setError(response.ok ? undefined : response.error)
    if (response.ok && created?.link_id === link_id) setCreated(undefined)
    await list.reload()
  }
}
