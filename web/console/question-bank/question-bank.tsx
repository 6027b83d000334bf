import { useState } from 'preact/hooks'
import type { Item, ItemSkill, ItemSkillList } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { KIND_NAMES } from '../questions/labels.ts'
import { QuestionTabs } from '../questions/question-tabs.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { ImportForm } from './import-form.tsx'

const MIN_ACTIVE_ITEMS = 12

/** The organisation's own questions: import, export, and the list of each skill. The texts are only in the export. */
export default function QuestionBank() {
  const context = useOrgContext()
  const { query } = useAddress()
  const skills = useData<ItemSkillList>(context.apiPath('/items/skills'))
  const skillId = query.get('skill_id')
  const skill = skills.data?.items.find(({ skill_id }) => skill_id === skillId)
  // Only members may export, and not operators.
  const canExport = context.org.role === 'owner' && (skills.data?.items.length ?? 0) > 0
  return (
    <>
      <h1>{t('Your own questions')}</h1>
      <QuestionTabs current="/question-bank" />
      <p class="soft">
        {t(
          'The questions of your organisation. Only owners can read them, and new jobs use them instead of the built-in questions as soon as a skill has {min} active ones. TEST and LIVE share them.',
          { min: MIN_ACTIVE_ITEMS },
        )}
      </p>
      {context.can('owner') && <ImportForm onImported={() => void skills.reload()} />}
      {skills.error && <Notice kind="bad">{skills.error.message}</Notice>}
      <SkillTable skills={skills.data?.items} selectedId={skillId} />
      {canExport && (
        <div class="row">
          <ExportLink format="csv" name={t('Export CSV')} />
          <ExportLink format="qti" name={t('Export QTI')} />
        </div>
      )}
      {skill && <SkillItems key={skill.skill_id} skill={skill} onChanged={() => void skills.reload()} />}
    </>
  )
}

function ExportLink({ format, name }: { format: 'csv' | 'qti'; name: string }) {
  const context = useOrgContext()
  return (
    <a class="button" href={`/console/api${context.apiPath(`/items/export?format=${format}`)}`} download>
      {name}
    </a>
  )
}

function SkillTable({ skills, selectedId }: { skills: ItemSkill[] | undefined; selectedId: string | null }) {
  const context = useOrgContext()
  return (
    <section class="stack" aria-label={t('Skills')}>
      <h2>{t('Skills')}</h2>
      <Table
        caption={t('Skills with questions of your organisation')}
        rows={skills}
        keyOf={({ skill_id }) => skill_id}
        empty={
          <>
            <h3>{t('No questions yet')}</h3>
            <p class="soft">
              {context.can('owner')
                ? t('Import a CSV file or a QTI 3.0 package above.')
                : t('An owner of your organisation can import questions.')}
            </p>
          </>
        }
        columns={[
          {
            name: t('Skill'),
            cell: ({ skill_id, name }) => (
              <Link to={context.pagePath(`/question-bank?skill_id=${skill_id}`)} current={skill_id === selectedId}>
                {name}
              </Link>
            ),
          },
          { name: t('Active'), right: true, cell: ({ active }) => active },
          { name: t('Pilot'), right: true, cell: ({ pilot }) => pilot },
          { name: t('Retired'), right: true, cell: ({ retired }) => retired },
          {
            name: t('New jobs'),
            cell: ({ measurable, active }) =>
              measurable
                ? t('use these questions')
                : t('{count} more active needed', { count: Math.max(1, MIN_ACTIVE_ITEMS - active) }),
          },
        ]}
      />
    </section>
  )
}

function SkillItems({ skill, onChanged }: { skill: ItemSkill; onChanged: () => void }) {
  const context = useOrgContext()
  const list = useList<Item>(context.apiPath(`/items?skill_id=${skill.skill_id}`))
  const [deleted, setDeleted] = useState<Item>()
  return (
    <section class="stack" aria-label={t('Questions about {name}', { name: skill.name })}>
      <h2>{skill.name}</h2>
      <p class="soft small">
        {t(
          'Pilot questions are asked without being scored until their statistics are known. Numbers appear after the first LIVE responses.',
        )}
      </p>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Questions about {name}', { name: skill.name })}
        rows={list.items}
        keyOf={({ item_id }) => item_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">{t('No questions about this skill.')}</p>}
        columns={[
          {
            name: 'ID',
            cell: ({ external_id, item_id, skill_id }) => (
              <Link to={context.pagePath(`/questions/${skill_id}/${item_id}`)}>
                <code>{external_id ?? item_id}</code>
              </Link>
            ),
          },
          {
            name: t('Status'),
            cell: ({ status, retirement_reason }) => <Status status={status} reason={retirement_reason} />,
          },
          { name: t('Kind'), cell: ({ kind }) => (kind === 'unspecified' ? '–' : (KIND_NAMES[kind] ?? kind)) },
          { name: t('Languages'), cell: ({ languages }) => languages.join(', ') },
          { name: t('Responses'), right: true, cell: ({ responses }) => responses.toLocaleString(displayLocale()) },
          {
            name: t('Correct'),
            right: true,
            cell: ({ proportion_correct }) =>
              proportion_correct === null ? '–' : `${Math.round(100 * proportion_correct)} %`,
          },
          {
            name: '',
            cell: (item) =>
              context.can('owner') && (
                <button
                  type="button"
                  class="plain flush"
                  aria-label={t('Delete {id}', { id: item.external_id ?? item.item_id })}
                  onClick={() => setDeleted(item)}
                >
                  {t('Delete')}
                </button>
              ),
          },
        ]}
      />
      {deleted && (
        <Confirm
          title={t('Delete the question {id}?', { id: deleted.external_id ?? deleted.item_id })}
          action={t('Delete question')}
          onClose={() => setDeleted(undefined)}
          act={() => api(context.apiPath(`/items/${deleted.item_id}`), { method: 'DELETE' })}
          onDone={() => {
            void list.reload()
            onChanged()
          }}
        >
          <p>
            {t(
              'Its text and statistics are deleted, and existing jobs do not ask it any more. To use it again, import it as a new question.',
            )}
          </p>
        </Confirm>
      )}
    </section>
  )
}

const RETIREMENT_REASONS: Record<string, string> = {
  miskeyed: t('miskeyed'),
  leaked: t('leaked'),
  not_discriminating: t('not discriminating'),
  manual: t('manual'),
}

function Status({ status, reason }: { status: Item['status']; reason: string | null }) {
  return (
    <>
      <Badge state={status} />{' '}
      {reason && <span class="soft small">{RETIREMENT_REASONS[reason] ?? reason.replaceAll('_', ' ')}</span>}
    </>
  )
}
