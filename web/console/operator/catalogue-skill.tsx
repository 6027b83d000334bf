import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { EditableSkill, SkillChange, SkillUse } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import './skills.css'
import '../shared/forms.css'
import { Badge } from '../../ui/badge.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, navigate, type Params, ParentLink } from '../shell/router.tsx'
import { MergeSkill } from './merge-skill.tsx'
import { SOURCE_NAMES } from './skill-sources.ts'

const CATALOGUE_PATH = '/operator/skills/catalogue'

/** The part of the page that sent a change. It shows the outcome. */
type Section = 'name' | 'aliases' | 'settings' | 'merge'

type Outcome = { section: Section } & ({ text: string } | { error: ApiError })

/** One skill of the catalogue, and the forms that change it. */
export default function OperatorCatalogueSkill({ params }: { params: Params }) {
  const path = `/operator/catalogue/skills/${params.skill_id}`
  const { data, error, reload, set } = useData<EditableSkill>(path)
  const use = useData<SkillUse>(`${path}/use`)
  const [outcome, setOutcome] = useState<Outcome>()
  const [merging, setMerging] = useState(false)
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">Skill</h1>
  return (
    <>
      <ParentLink to={CATALOGUE_PATH}>{t('Catalogue')}</ParentLink>
      <h1>
        {data.name} <Badge state={data.verifiable ? 'verifiable' : 'not_verifiable'} />
      </h1>
      <DescriptionList>
        <DescriptionItem name="ID">{data.skill_id}</DescriptionItem>
        <DescriptionItem name={t('Category')}>
          <Link
            to={`${CATALOGUE_PATH}?${new URLSearchParams({ master_skill_id: data.master_skill.master_skill_id, group: data.master_skill.name })}`}
          >
            {data.master_skill.name}
          </Link>{' '}
          ›{' '}
          <Link
            to={`${CATALOGUE_PATH}?${new URLSearchParams({ sub_skill_id: data.sub_skill.sub_skill_id, group: data.sub_skill.name })}`}
          >
            {data.sub_skill.name}
          </Link>
        </DescriptionItem>
        <DescriptionItem name={t('Description')}>{data.description || '–'}</DescriptionItem>
        <DescriptionItem name={t('Verifiable')}>{verifiableText(data)}</DescriptionItem>
        <DescriptionItem name={t('Used in')}>
          {use.error ? use.error.message : use.data ? useText(use.data) : t('Counting…')}
        </DescriptionItem>
        <DescriptionItem name={t('Last change')}>
          <Time at={data.updated_at} />
        </DescriptionItem>
      </DescriptionList>

      {data.withdrawn && (
        <Notice kind="wait">
          {t('The import that had added this skill was undone. The skill is found by its ID only.')}
        </Notice>
      )}
      {data.merged_into && (
        <Notice kind="wait">
          {richText('This skill has been merged into {skill}. Its ID means that skill.', {
            skill: <Link to={`${CATALOGUE_PATH}/${data.merged_into.skill_id}`}>{data.merged_into.name}</Link>,
          })}{' '}
          <button type="button" class="plain flush" onClick={() => void undoMerge(data.skill_id, data.name)}>
            {t('Undo the merge')}
          </button>
        </Notice>
      )}
      {showOutcome('merge')}
      {!data.merged_into && !data.withdrawn && (
        <>
          <Rename
            key={data.name}
            data={data}
            change={(changes, text) => change('name', changes, text)}
            outcome={showOutcome('name')}
          />
          <Aliases
            data={data}
            change={(changes, text) => change('aliases', changes, text)}
            outcome={showOutcome('aliases')}
          />
          <section class="stack" aria-label={t('Settings')}>
            <h2>{t('Settings')}</h2>
            <label class="check">
              <input
                type="checkbox"
                checked={data.often_required}
                onChange={() =>
                  void change(
                    'settings',
                    { often_required: !data.often_required },
                    data.often_required
                      ? t('The skill no longer ranks higher in searches.')
                      : t('The skill ranks higher in searches.'),
                  )
                }
              />
              {t('Often required: rank it higher in searches')}
            </label>
            <label class="check">
              <input
                type="checkbox"
                checked={data.verification}
                onChange={() =>
                  void change(
                    'settings',
                    { verification: !data.verification },
                    data.verification ? t('Verification is switched off.') : t('Verification is switched on.'),
                  )
                }
              />
              {t('Allow verification with the questions of this server')}
            </label>
            <p class="soft small">
              {t(
                'A skill is verifiable only if there are enough questions about it, or an AI writer is configured. Jobs that already verify the skill are not affected, and organisations with enough questions of their own can always verify it.',
              )}
            </p>
            {showOutcome('settings')}
          </section>
          <section class="stack" aria-label={t('Merged skills')}>
            <h2>{t('Merged skills')}</h2>
            {data.merged_skills.length > 0 && (
              <ul>
                {data.merged_skills.map(({ skill_id, name }) => (
                  <li key={skill_id}>
                    <Link to={`${CATALOGUE_PATH}/${skill_id}`}>{name}</Link> <span class="soft small">{skill_id}</span>{' '}
                    <button type="button" class="plain flush" onClick={() => void undoMerge(skill_id, name)}>
                      {t('Undo the merge of {name}', { name })}
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <p class="soft small">
              {t('Merge a skill that the catalogue has twice. Its ID stays valid and means the skill that survives.')}
            </p>
            <p>
              <button type="button" onClick={() => setMerging(true)}>
                {t('Merge into another skill…')}
              </button>
            </p>
          </section>
        </>
      )}
      {merging && <MergeSkill skill={data} onClose={() => setMerging(false)} onMerged={showSurvivor} />}

      <h2>{t('Sources')}</h2>
      <Table
        caption={t('Sources of the skill')}
        rows={data.sources}
        keyOf={({ source, source_id }) => `${source} ${source_id}`}
        empty={<p class="soft">{t('No sources.')}</p>}
        columns={[
          { name: t('Source'), cell: ({ source }) => SOURCE_NAMES[source] ?? source },
          { name: t('Name there'), cell: ({ name }) => name },
          { name: t('ID there'), cell: ({ source_id }) => <span class="long-text">{source_id}</span> },
          { name: t('Main source'), cell: ({ owner }) => t(owner ? 'Yes' : 'No') },
        ]}
      />
    </>
  )

  /** Sends a change. Returns whether it succeeded. */
  async function change(section: Section, changes: Changes, text: string): Promise<boolean> {
    setOutcome(undefined)
    const response = await api<EditableSkill>(path, {
      method: 'PATCH',
      body: { ...changes, revision: data!.revision },
    })
    setOutcome(response.ok ? { section, text } : { section, error: response.error })
    if (response.ok) set(response.data)
    return response.ok
  }

  function showSurvivor({ skill_id }: EditableSkill) {
    setMerging(false)
    navigate(`${CATALOGUE_PATH}/${skill_id}`)
  }

  async function undoMerge(id: string, name: string) {
    setOutcome(undefined)
    const response = await api<EditableSkill>(`/operator/catalogue/skills/${id}/undo-merge`, { body: {} })
    setOutcome(
      response.ok
        ? { section: 'merge', text: t('“{name}” is a skill of its own again.', { name }) }
        : { section: 'merge', error: response.error },
    )
    if (response.ok) await reload()
  }

  function showOutcome(section: Section): ComponentChildren {
    if (outcome?.section !== section) return null
    if ('text' in outcome) return <Notice kind="good">{outcome.text}</Notice>
    const { code, message, details } = outcome.error
    return (
      <Notice kind="bad">
        {message} {/* Another operator has changed the skill. */}
        {code === 'CONFLICT' && details.length === 0 && (
          <button type="button" class="plain flush" onClick={() => void reloadSkill()}>
            {t('Load the skill again')}
          </button>
        )}
      </Notice>
    )
  }

  async function reloadSkill() {
    setOutcome(undefined)
    await reload()
  }
}

type Changes = Omit<SkillChange, 'revision'>

interface FormProps {
  data: EditableSkill
  change: (changes: Changes, text: string) => Promise<boolean>
  outcome: ComponentChildren
}

function Rename({ data, change, outcome }: FormProps) {
  const [name, setName] = useState(data.name)
  const [busy, setBusy] = useState(false)
  return (
    <form class="stack" aria-label={t('Rename')} onSubmit={(event) => void rename(event)}>
      <h2>{t('Name')}</h2>
      <Field
        id="skill-name"
        label={t('Name')}
        hint={t('The old name stays as an alias. Imports do not change a name that you chose.')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            maxLength={200}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <SubmitButton busy={busy} ready={name.trim() !== '' && name.trim() !== data.name}>
        {t('Rename')}
      </SubmitButton>
      {outcome}
    </form>
  )

  async function rename(event: Event) {
    event.preventDefault()
    setBusy(true)
    await change(
      { name: name.trim() },
      t('Renamed to “{name}”. “{oldName}” is an alias now.', { name: name.trim(), oldName: data.name }),
    )
    setBusy(false)
  }
}

function Aliases({ data, change, outcome }: FormProps) {
  const [alias, setAlias] = useState('')
  const [busy, setBusy] = useState(false)
  return (
    <section class="stack" aria-label={t('Aliases')}>
      <h2>{t('Aliases')}</h2>
      {data.aliases.length === 0 ? (
        <p class="soft">{t('No aliases. Searches find the skill by its name only.')}</p>
      ) : (
        <ul class="chips">
          {data.aliases.map((each) => (
            <li key={each} class="tag">
              {each}{' '}
              <button
                type="button"
                class="plain flush"
                aria-label={t('Remove the alias {alias}', { alias: each })}
                onClick={() =>
                  void change({ remove_aliases: [each] }, t('Removed the alias “{alias}”.', { alias: each }))
                }
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {data.removed_aliases.length > 0 && (
        <p class="soft small">
          {t('Removed by operators, and not added again by imports: {aliases}', {
            aliases: data.removed_aliases.join(', '),
          })}
        </p>
      )}
      <form class="stack" aria-label={t('Add an alias')} onSubmit={(event) => void add(event)}>
        <Field id="new-alias" label={t('New alias')}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              maxLength={200}
              value={alias}
              onInput={(event) => setAlias(event.currentTarget.value)}
            />
          )}
        </Field>
        <SubmitButton busy={busy} ready={alias.trim() !== ''}>
          {t('Add alias')}
        </SubmitButton>
      </form>
      {outcome}
    </section>
  )

  async function add(event: Event) {
    event.preventDefault()
    setBusy(true)
    const succeeded = await change(
      { add_aliases: [alias.trim()] },
      t('Added the alias “{alias}”.', { alias: alias.trim() }),
    )
    setBusy(false)
    if (succeeded) setAlias('')
  }
}

const REASON_TEXTS: Record<EditableSkill['verifiable_reason'], string> = {
  built_in_questions: t('Yes: the built-in bank has enough questions about it.'),
  ai_writer: t('Yes: an AI writer is configured, which writes questions about any skill.'),
  too_few_questions: t('No: there are too few questions about it, and no AI writer is configured.'),
  switched_off: t('No: an operator has switched its verification off.'),
}

function verifiableText({ verifiable_reason, organisations_with_questions: organisations }: EditableSkill): string {
  if (organisations === 0) return REASON_TEXTS[verifiable_reason]
  const ownQuestionsText = t(
    organisations === 1
      ? '{count} organisation can verify it with questions of their own.'
      : '{count} organisations can verify it with questions of their own.',
    { count: formatCount(organisations) },
  )
  return `${REASON_TEXTS[verifiable_reason]} ${ownQuestionsText}`
}

function useText({ mandates, sessions, selected_skills }: SkillUse): string {
  return [
    t(mandates === 1 ? '{count} job' : '{count} jobs', { count: formatCount(mandates) }),
    t(sessions === 1 ? '{count} verification' : '{count} verifications', { count: formatCount(sessions) }),
    t(
      selected_skills === 1
        ? '{count} selection in the public catalogue'
        : '{count} selections in the public catalogue',
      { count: formatCount(selected_skills) },
    ),
  ].join(', ')
}

function formatCount(count: number): string {
  return count.toLocaleString(displayLocale())
}
