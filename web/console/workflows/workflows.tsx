import type { Workflow } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { CreatedVia } from '../shared/created-via.tsx'
import { CHANNEL_NAMES, languageName, methodNames } from '../shared/labels.ts'
import { ListCount, listQueryString, SearchFilter, SelectFilter } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const PAGE_SIZE = 50
const SORTS = [
  ['updated', t('Updated last')],
  ['name', t('Name')],
] as const

export default function Workflows() {
  const context = useOrgContext()
  const { query } = useAddress()
  const status = query.get('status') ?? 'active'
  const filter = listQueryString(query, ['q', 'sort'], PAGE_SIZE) + (status === 'all' ? '' : `&status=${status}`)
  const list = useList<Workflow>(context.apiPath(`/lists/workflows?${filter}`))
  const isFiltered = Boolean(query.get('q')) || status === 'archived'
  return (
    <>
      <div class="page-head">
        <h1>{t('Workflows')}</h1>
        {context.can('recruiter') && (
          <Link class="button primary" to={context.pagePath('/workflows/new')}>
            {t('New workflow')}
          </Link>
        )}
      </div>
      <p class="soft">
        {t('A workflow sets how candidates are contacted: channels, languages, follow-ups and types of questions.')}
      </p>
      <div class="row filters">
        <SearchFilter label={t('Search')} placeholder={t('Name or ID')} />
        <label>
          {t('Status')}
          <select
            value={status}
            onChange={(event) => {
              const selectedStatus = event.currentTarget.value
              setQuery({ status: selectedStatus === 'active' ? undefined : selectedStatus })
            }}
          >
            <option value="active">{t('Active')}</option>
            <option value="archived">{t('Archived')}</option>
            <option value="all">{t('All')}</option>
          </select>
        </label>
        <SelectFilter name="sort" label={t('Sort')} allLabel={t('Newest first')} options={SORTS} />
      </div>
      <ListCount list={list} nouns={[t('workflow'), t('workflows')]} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Workflows')}
        rows={list.items}
        keyOf={({ workflow_id }) => workflow_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          !isFiltered ? (
            <>
              <h2>{t('No workflows yet')}</h2>
              <p class="soft">
                {t(
                  'Every job needs a workflow, which sets how candidates are contacted. You can use one workflow for many jobs.',
                )}
              </p>
              {context.can('recruiter') && (
                <Link to={context.pagePath('/workflows/new')}>{t('Create a workflow')}</Link>
              )}
            </>
          ) : (
            <p class="soft">{t('No workflows match these filters.')}</p>
          )
        }
        columns={[
          {
            name: t('Name'),
            cell: ({ workflow_id, name }) => <Link to={context.pagePath(`/workflows/${workflow_id}`)}>{name}</Link>,
          },
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          { name: t('Questions'), cell: ({ default_methods }) => methodNames(default_methods) },
          { name: t('Channels'), cell: ({ channels }) => channels.map((each) => CHANNEL_NAMES[each]).join(', ') },
          { name: t('Languages'), cell: ({ languages }) => languages.map(languageName).join(', ') },
          { name: t('Jobs'), right: true, aside: true, cell: ({ mandates }) => mandates },
          { name: t('Source'), aside: true, cell: ({ created_via }) => <CreatedVia via={created_via} /> },
          { name: t('Updated'), aside: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}
