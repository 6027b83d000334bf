import { useState } from 'preact/hooks'
import type { AtsOrder, AtsReport } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 5000

/** The orders of a connection, with the state and the payload of every report. */
export function AtsOrders({ path, canReplay }: { path: string; canReplay: boolean }) {
  const context = useOrgContext()
  const list = useList<AtsOrder>(path, { pollMs: POLL_INTERVAL_MS })
  const [shownId, setShown] = useState<string>()
  const [notice, setNotice] = useState<{ kind: 'good' | 'bad'; text: string }>()
  const shown = list.items?.find(({ order_id }) => order_id === shownId)
  return (
    <section class="stack" aria-label={t('Orders')}>
      <h2>{t('Orders')}</h2>
      {notice && <Notice kind={notice.kind}>{notice.text}</Notice>}
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Orders, newest first')}
        rows={list.items}
        keyOf={({ order_id }) => order_id}
        loadMore={list.more}
        empty={<p class="soft">{t("No orders yet. Recruiters order a test on the candidate's page in the ATS.")}</p>}
        columns={[
          {
            name: t('Candidate'),
            cell: ({ candidate_id, person_id, candidate_name }) => {
              // A rejected order has no candidate. Owners export and erase its data on the page of the person.
              const page = candidate_id
                ? `/candidates/${candidate_id}`
                : person_id && context.can('owner') && `/people/${person_id}`
              return page ? <Link to={context.pagePath(page)}>{candidate_name}</Link> : candidate_name
            },
          },
          {
            name: t('Test'),
            cell: ({ mandate_id, test_name }) =>
              mandate_id ? <Link to={context.pagePath(`/mandates/${mandate_id}`)}>{test_name}</Link> : test_name,
          },
          {
            name: t('Status'),
            cell: ({ state, is_paused, campaign_id }) => (
              <>
                <Badge state={state} />
                {is_paused && (
                  <div class="small">
                    {richText('Waiting: <link>the campaign is paused</link>', {
                      link: (words) => <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{words}</Link>,
                    })}
                  </div>
                )}
              </>
            ),
          },
          {
            name: t('Last report'),
            cell: ({ reports }) => {
              const report = reports.at(-1)
              return report ? <ReportState report={report} /> : '–'
            },
          },
          { name: t('Ordered'), cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: t('Actions'),
            cell: ({ order_id, candidate_name, reports }) => (
              <span class="row">
                <button
                  type="button"
                  class="plain flush"
                  aria-label={t('Reports ({count}) about {candidateName}', {
                    count: reports.length,
                    candidateName: candidate_name,
                  })}
                  onClick={() => setShown(order_id)}
                >
                  {t('Reports ({count})', { count: reports.length })}
                </button>
                {canReplay && reports.length > 0 && (
                  <button
                    type="button"
                    class="plain flush"
                    aria-label={t('Send again: last report about {candidateName}', { candidateName: candidate_name })}
                    onClick={() => void replay(order_id)}
                  >
                    {t('Send again')}
                  </button>
                )}
              </span>
            ),
          },
        ]}
      />
      {shown && (
        <Dialog
          title={t('Reports about {candidateName}', { candidateName: shown.candidate_name })}
          onClose={() => setShown(undefined)}
        >
          {shown.summary && <p>{shown.summary}</p>}
          {shown.ats_errors.map((text) => (
            <Notice key={text} kind="bad">
              {t('The ATS reported: {text}', { text })}
            </Notice>
          ))}
          {shown.is_paused && (
            <Notice kind="wait">
              {richText(
                'The campaign of this order is paused, so the candidate is not contacted. <link>Open the campaign</link> and choose Resume.',
                { link: (words) => <Link to={context.pagePath(`/campaigns/${shown.campaign_id}`)}>{words}</Link> },
              )}
            </Notice>
          )}
          {shown.reports.length === 0 && <p class="soft">{t('No reports yet: the candidate has not started.')}</p>}
          {shown.reports.map((report) => (
            <ReportDetails key={report.number} report={report} />
          ))}
          {shown.status_read !== null && (
            <section class="stack">
              <h3>{t('What the ATS reads about this order')}</h3>
              <Json value={shown.status_read} />
            </section>
          )}
        </Dialog>
      )}
    </section>
  )

  async function replay(orderId: string) {
    const response = await api<AtsOrder>(context.apiPath(`/ats/orders/${orderId}/replay`), { body: {} })
    if (!response.ok) return setNotice({ kind: 'bad', text: response.error.message })
    setNotice({ kind: 'good', text: t('The last report is sent again.') })
    void list.reload()
  }
}

function Json({ value }: { value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard
    <pre class="json" tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  )
}

const REPORT_KINDS: Record<AtsReport['kind'], string> = {
  started: t('started'),
  paused: t('paused'),
  resumed: t('resumed'),
  result: t('result'),
  cancelled: t('cancelled'),
}

function ReportState({ report }: { report: AtsReport }) {
  return (
    <>
      {REPORT_KINDS[report.kind]} <Badge state={report.state} />
      {report.state !== 'delivered' && report.last_error && <div class="bad-text small">{report.last_error}</div>}
    </>
  )
}

function ReportDetails({ report }: { report: AtsReport }) {
  const { number, attempts, next_attempt_at, delivered_at, last_request, last_status, last_response } = report
  return (
    <section class="stack">
      <h3>
        {number}. <ReportState report={report} />
      </h3>
      <p class="soft small">
        {attempts === 1 ? t('1 attempt') : t('{count} attempts', { count: attempts })}
        {delivered_at && <>, {richText('delivered {time}', { time: <Time at={delivered_at} /> })}</>}
        {next_attempt_at && <>, {richText('next attempt {time}', { time: <Time at={next_attempt_at} /> })}</>}
      </p>
      {last_request !== null && <Json value={last_request} />}
      {last_status !== null && (
        <p class="small">{t('Response {status} {body}', { status: last_status, body: last_response })}</p>
      )}
    </section>
  )
}
