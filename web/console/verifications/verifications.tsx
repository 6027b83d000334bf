import type { VerificationSummary } from '../../api-types/console.ts'
import type { VerificationStatus } from '../../api-types/verification.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { VERIFICATION_METHOD_NAMES } from '../shared/labels.ts'
import { ListCount, listQueryString, SearchFilter } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const STATUS_NAMES: Record<VerificationStatus, string> = {
  open: t('open'),
  pending_review: t('pending review'),
  in_assessment: t('in assessment'),
  completed: t('completed'),
  declined: t('declined'),
  failed: t('failed'),
  expired: t('expired'),
}

const PAGE_SIZE = 50

export default function Verifications() {
  const context = useOrgContext()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const list = useList<VerificationSummary>(
    context.apiPath(`/verifications?${listQueryString(query, ['status', 'q'], PAGE_SIZE)}`),
  )
  return (
    <>
      <h1>{t('Verifications')}</h1>
      <div class="row filters">
        <SearchFilter label={t('Search')} placeholder={t('Your student ID or verification ID')} />
        <label>
          {t('Status')}
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">{t('All statuses')}</option>
            {Object.entries(STATUS_NAMES).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ListCount list={list} nouns={[t('verification'), t('verifications')]} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Verifications, newest first')}
        rows={list.items}
        keyOf={({ verification_id }) => verification_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          status || query.get('q') ? (
            <p class="soft">{t('No verifications match these filters.')}</p>
          ) : (
            <>
              <h2>{t('No verifications')}</h2>
              <p class="soft">
                {richText('Your server starts a verification for a student with {code} and a session key.', {
                  code: <code>POST /api/v1/verify</code>,
                })}
              </p>
              {context.mode === 'test' && <TestAddresses />}
              {context.can('owner') && <Link to={context.pagePath('/keys')}>{t('Create a session key')}</Link>}
            </>
          )
        }
        columns={[
          {
            name: t('Student'),
            cell: ({ verification_id, student_name }) => (
              <Link to={context.pagePath(`/verifications/${verification_id}`)}>{student_name}</Link>
            ),
          },
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          { name: t('Method'), cell: ({ method }) => (method ? VERIFICATION_METHOD_NAMES[method] : '–') },
          { name: t('Skills'), right: true, cell: ({ skills }) => skills },
          { name: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
          { name: t('Ended'), cell: ({ completed_at }) => <Time at={completed_at} /> },
        ]}
      />
    </>
  )
}

/** The addresses that simulate students and reviewers in TEST mode. */
function TestAddresses() {
  return (
    <p class="soft">
      {richText(
        'To try it without a person, use an address of {domain}. Students {pass}, {fail} and {inconclusive} get questions whose right option is first. Reviewers {endorse}, {refuse} and {silent} act automatically within seconds.',
        {
          domain: <code>test.attestry.example</code>,
          pass: <code>pass@</code>,
          fail: <code>fail@</code>,
          inconclusive: <code>inconclusive@</code>,
          endorse: <code>endorse@</code>,
          refuse: <code>refuse@</code>,
          silent: <code>silent@</code>,
        },
      )}
    </p>
  )
}
