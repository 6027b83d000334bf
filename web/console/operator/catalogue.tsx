import type { CatalogueGroup, ListedSkill } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import './skills.css'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { ListCount, listQueryString, MoreFilters, SearchFilter, SelectFilter } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { Link, ParentLink, setQuery, useAddress } from '../shell/router.tsx'
import { SOURCE_NAMES } from './skill-sources.ts'

const PAGE_SIZE = 50
const LEVELS = [
  ['skill', t('Skills')],
  ['sub_skill', t('Sub-skills')],
  ['master_skill', t('Master skills')],
] as const
const FILTERS = ['verifiable', 'questions', 'source']
const MAX_SHOWN_ALIASES = 4

/** Searches the catalogue on all three levels: skills, sub-skills and master skills. */
export default function OperatorCatalogue() {
  const { query } = useAddress()
  const level = query.get('level') ?? 'skill'
  return (
    <>
      <ParentLink to="/operator/skills">{t('Skills')}</ParentLink>
      <h1>{t('Catalogue')}</h1>
      <div class="row filters">
        <SearchFilter label={t('Search')} placeholder={t('Name, alias or ID')} />
        <label>
          {t('Level')}
          <select
            value={level}
            onChange={(event) => {
              const { value } = event.currentTarget
              setQuery({
                level: value === 'skill' ? undefined : value,
                master_skill_id: undefined,
                sub_skill_id: undefined,
              })
            }}
          >
            {LEVELS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {level === 'skill' && (
          <MoreFilters names={FILTERS}>
            <SelectFilter
              name="verifiable"
              label={t('Verifiable')}
              allLabel={t('All')}
              options={[
                ['true', t('Verifiable')],
                ['false', t('Not verifiable')],
              ]}
            />
            <SelectFilter
              name="questions"
              label={t('Questions')}
              allLabel={t('All')}
              options={[
                ['built_in', t('In the built-in bank')],
                ['own', t('Of organisations')],
                ['none', t('None')],
              ]}
            />
            <SelectFilter
              name="source"
              label={t('Source')}
              allLabel={t('All sources')}
              options={[...Object.entries(SOURCE_NAMES), ['operator', t('Changed by operators')]]}
            />
          </MoreFilters>
        )}
      </div>
      <GroupFilter />
      {level === 'skill' ? <Skills /> : <Groups key={level} level={level as 'sub_skill' | 'master_skill'} />}
    </>
  )
}

/** Shows the sub-skill or master skill to which the list is limited. */
function GroupFilter() {
  const { query } = useAddress()
  const group = query.get('sub_skill_id') ?? query.get('master_skill_id')
  if (!group) return null
  return (
    <p>
      <span class="tag">
        {query.get('group') ?? group}{' '}
        <button
          type="button"
          class="plain flush"
          aria-label={t('Remove the filter {name}', { name: query.get('group') ?? group })}
          onClick={() => setQuery({ sub_skill_id: undefined, master_skill_id: undefined, group: undefined })}
        >
          ×
        </button>
      </span>
    </p>
  )
}

function Skills() {
  const { query } = useAddress()
  const path = listQueryString(query, ['q', 'master_skill_id', 'sub_skill_id', ...FILTERS], PAGE_SIZE)
  const list = useList<ListedSkill>(`/operator/catalogue/skills?${path}`)
  return (
    <>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <ListCount list={list} nouns={[t('skill'), t('skills')]} />
      <Table
        caption={query.get('q') ? t('Skills, best matches first') : t('Skills, by ID')}
        rows={list.items}
        keyOf={({ skill_id }) => skill_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">{t('No skill matches. Remove a filter, or try another name.')}</p>}
        columns={[
          {
            name: t('Skill'),
            cell: ({ skill_id, name, aliases }) => (
              <>
                <Link to={`/operator/skills/catalogue/${skill_id}`}>{name}</Link>
                {aliases.length > 0 && <div class="soft small">{shortList(aliases)}</div>}
              </>
            ),
          },
          { name: 'ID', cell: ({ skill_id }) => skill_id },
          {
            name: t('Category'),
            cell: ({ master_skill, sub_skill }) => (
              <span class="small">
                {master_skill.name} › {sub_skill.name}
              </span>
            ),
          },
          { name: t('Verifiable'), cell: ({ verifiable }) => t(verifiable ? 'Yes' : 'No') },
          { name: t('Questions'), cell: (skill) => questionsText(skill) },
          {
            name: t('Sources'),
            cell: ({ sources }) => sources.map((source) => SOURCE_NAMES[source] ?? source).join(', '),
          },
        ]}
      />
    </>
  )
}

function Groups({ level }: { level: 'sub_skill' | 'master_skill' }) {
  const { query } = useAddress()
  const path = listQueryString(query, ['q', 'master_skill_id'], PAGE_SIZE)
  const list = useList<CatalogueGroup>(`/operator/catalogue/groups?level=${level}&${path}`)
  const isSub = level === 'sub_skill'
  return (
    <>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <ListCount
        list={list}
        nouns={isSub ? [t('sub-skill'), t('sub-skills')] : [t('master skill'), t('master skills')]}
      />
      <Table
        caption={isSub ? t('Sub-skills, by ID') : t('Master skills, by ID')}
        rows={list.items}
        keyOf={({ id }) => id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">{t('No name matches.')}</p>}
        columns={[
          {
            name: t('Name'),
            cell: ({ id, name }) => {
              const filter = new URLSearchParams({ [isSub ? 'sub_skill_id' : 'master_skill_id']: id, group: name })
              return <Link to={`/operator/skills/catalogue?${filter}`}>{name}</Link>
            },
          },
          { name: 'ID', cell: ({ id }) => id },
          ...(isSub
            ? [{ name: t('Master skill'), cell: ({ master_skill }: CatalogueGroup) => master_skill?.name ?? '–' }]
            : []),
          { name: t('Skills'), right: true, cell: ({ skills }) => skills.toLocaleString(displayLocale()) },
        ]}
      />
    </>
  )
}

function shortList(aliases: string[]): string {
  const omitted = aliases.length - MAX_SHOWN_ALIASES
  const names = aliases.slice(0, MAX_SHOWN_ALIASES).join(', ')
  return omitted > 0 ? t('{names} and {count} more', { names, count: omitted }) : names
}

function questionsText({ built_in_questions, own_questions }: ListedSkill): string {
  const parts = [
    ...(built_in_questions ? [t('built-in')] : []),
    ...(own_questions > 0
      ? [t('{count} of organisations', { count: own_questions.toLocaleString(displayLocale()) })]
      : []),
  ]
  return parts.join(', ') || '–'
}
