import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { QuestionDetails, QuestionStatistics } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { BarList } from '../../ui/bar-list.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { languageName } from '../shared/labels.ts'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { decimal, KIND_NAMES, percent, REASON_TEXTS, SOURCE_NAMES, seconds } from './labels.ts'
import { AbilityPlot, TrendPlot } from './plots.tsx'
import './questions.css'

/** A larger difference between languages, of more standard errors, is marked: the translation may be wrong. */
const NOTABLE_DIFFERENCE = 0.1
const NOTABLE_STANDARD_ERRORS = 2.6

/** One question: its text, how people respond to it, and whether it is in use. */
export default function Question({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/questions/${params.skill_id}/${params.item_id}`)
  const { data, error, set } = useData<QuestionDetails>(path)
  const [isConfirming, setIsConfirming] = useState(false)
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">Question</h1>
  const { statistics } = data
  const change = data.status === 'retired' ? 'restore' : 'retire'
  return (
    <>
      <p>
        <Link to={context.pagePath('/questions')}>{t('Questions')}</Link> ·{' '}
        <Link to={context.pagePath(`/questions/${data.skill_id}`)}>{data.skill_name}</Link>
      </p>
      <div class="page-head">
        <h1>{richText('Question {badge}', { badge: <Badge state={data.status} /> })}</h1>
        <div class="row">
          {data.may_edit && (
            <Link class="button" to={context.pagePath(`/questions/${data.skill_id}/${data.item_id}/edit`)}>
              {t('Edit and translate')}
            </Link>
          )}
          {data.may_change && (
            <button type="button" onClick={() => setIsConfirming(true)}>
              {change === 'restore' ? t('Restore') : t('Retire')}
            </button>
          )}
        </div>
      </div>
      {data.retirement_reason && (
        <Notice kind="wait">
          {richText('{reason} It has not been asked since {time}.', {
            reason: REASON_TEXTS[data.retirement_reason],
            time: <Time at={data.retired_at} />,
          })}
        </Notice>
      )}
      <DescriptionList>
        <DescriptionItem name="ID">{data.item_id}</DescriptionItem>
        <DescriptionItem name={t('Source')}>{SOURCE_NAMES[data.source]}</DescriptionItem>
        <DescriptionItem name={t('Kind')}>{KIND_NAMES[data.kind] ?? data.kind}</DescriptionItem>
        <DescriptionItem name={t('Responses')}>
          {data.responses ? data.responses.toLocaleString(displayLocale()) : '–'}
        </DescriptionItem>
        <DescriptionItem name={t('Correct')}>{percent(data.correct_share)}</DescriptionItem>
        <DescriptionItem name={t('Discrimination')}>{decimal(data.discrimination)}</DescriptionItem>
        <DescriptionItem name={t('Difficulty')}>{decimal(data.difficulty)}</DescriptionItem>
        <DescriptionItem name={t('Median time')}>{seconds(data.median_seconds)}</DescriptionItem>
      </DescriptionList>
      {!statistics && (
        <Notice kind="wait">
          {t(
            "No LIVE responses yet. Numbers and plots appear within an hour after the first people have answered this question in LIVE. The difficulty is the author's until then.",
          )}
        </Notice>
      )}
      <div class="question-panels">
        <Texts question={data} />
        {statistics && <Statistics statistics={statistics} question={data} />}
      </div>
      {isConfirming && (
        <Confirm
          title={change === 'restore' ? t('Restore the question?') : t('Retire the question?')}
          action={change === 'restore' ? t('Restore') : t('Retire')}
          onClose={() => setIsConfirming(false)}
          act={async () => {
            const response = await api<QuestionDetails>(`${path}/${change}`, { method: 'POST' })
            if (response.ok) set(response.data)
            return response
          }}
          onDone={() => {}}
        >
          <p>
            {change === 'restore'
              ? t('It is asked again within a minute. Only responses from now on can retire it.')
              : t('It is not asked any more, and jobs that use it get an event. You can restore it.')}
          </p>
        </Confirm>
      )}
    </>
  )
}

function Panel({ title, note, children }: { title: string; note?: string; children: ComponentChildren }) {
  return (
    <section class="card stack" aria-label={title}>
      <div>
        <h2>{title}</h2>
        {note && <p class="soft small">{note}</p>}
      </div>
      {children}
    </section>
  )
}

/** The stem and the options in each language, and how often each option was chosen. */
function Texts({ question: { texts, statistics, is_calculation } }: { question: QuestionDetails }) {
  const [language, setLanguage] = useState('en')
  if (!texts)
    return (
      <Panel title={t('Options')} note={t('Only owners of the organisation can see the text of its own questions.')}>
        {statistics && <Choices statistics={statistics} options={undefined} />}
      </Panel>
    )
  const shown = texts.find((each) => each.language === language) ?? texts[0]!
  return (
    <Panel
      title={t('Text and choices')}
      note={
        is_calculation
          ? t('Each person gets other numbers; these are an example.')
          : t('The order differs for each person.')
      }
    >
      {texts.length > 1 && (
        <label>
          {t('Language')}
          <select value={shown.language} onChange={(event) => setLanguage(event.currentTarget.value)}>
            {texts.map((each) => (
              <option key={each.language} value={each.language}>
                {languageName(each.language)}
              </option>
            ))}
          </select>
        </label>
      )}
      <p lang={shown.language} class="question-text">
        {shown.stem}
      </p>
      {statistics ? (
        <Choices statistics={statistics} options={shown.options} language={shown.language} />
      ) : (
        <ul lang={shown.language}>
          {shown.options.map((option, index) => (
            <li key={option}>
              {option}
              {index === 0 && <KeyMark />}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function KeyMark() {
  return (
    <>
      {' '}
      <span class="badge good">{t('key')}</span>
    </>
  )
}

interface ChoicesProps {
  statistics: QuestionStatistics
  /** The key, and then the distractors; undefined if the caller may not see them. */
  options: string[] | undefined
  language?: string
}

function Choices({ statistics, options, language }: ChoicesProps) {
  const choiceOf = new Map(statistics.options.map((each) => [each.option, each]))
  const numbers = [...new Set([...(options ?? []).map((_, index) => index - 1), ...choiceOf.keys()])]
    .filter((each) => each !== null)
    .sort((first, second) => first - second)
  return (
    <BarList
      name={t('Choices')}
      max={statistics.responses}
      bars={[...numbers, ...(choiceOf.has(null) ? [null] : [])].map((option) => {
        const choice = choiceOf.get(option)
        const text = option === null ? undefined : options?.[option + 1]
        return {
          key: String(option),
          label: (
            <>
              {text ? <span lang={language}>{text}</span> : optionName(option)}
              {option === -1 && <KeyMark />}
            </>
          ),
          value: choice?.responses ?? 0,
          tone: option === -1 ? ('good' as const) : ('quiet' as const),
          number: percent((choice?.responses ?? 0) / statistics.responses),
          note: choice ? t('mean ability {ability}', { ability: decimal(choice.mean_ability) }) : t('not chosen yet'),
        }
      })}
    />
  )
}

function optionName(option: number | null): string {
  if (option === null) return t('No answer')
  return option === -1 ? t('Right answer') : t('Distractor {number}', { number: option + 1 })
}

function Statistics({ statistics, question }: { statistics: QuestionStatistics; question: QuestionDetails }) {
  const notableLanguages = statistics.languages.filter(
    ({ difference, standard_error }) =>
      difference !== null &&
      Math.abs(difference) >= NOTABLE_DIFFERENCE &&
      Math.abs(difference) > NOTABLE_STANDARD_ERRORS * standard_error!,
  )
  return (
    <>
      <Panel
        title={t('Correct by ability')}
        note={t(
          'Points are five groups of people, by the ability that their other responses show. The line is the share that the model expects.',
        )}
      >
        <AbilityPlot groups={statistics.ability_groups} expected={question.expected} />
      </Panel>
      <Panel title={t('Correct over time')} note={t('Each point is an equal number of consecutive responses.')}>
        {statistics.trend.length > 1 ? (
          <TrendPlot trend={statistics.trend} />
        ) : (
          <p class="soft">{t('The trend appears after 40 responses.')}</p>
        )}
      </Panel>
      <Panel
        title={t('By language')}
        note={t(
          'The difference from English compares people of equal ability. It needs 30 responses in both languages.',
        )}
      >
        <Table
          caption={t('Responses by language')}
          rows={statistics.languages}
          keyOf={({ language }) => language}
          empty={null}
          columns={[
            { name: t('Language'), cell: ({ language }) => languageName(language) },
            { name: t('Responses'), right: true, cell: ({ responses }) => responses.toLocaleString(displayLocale()) },
            { name: t('Correct'), right: true, cell: ({ correct_share }) => percent(correct_share) },
            {
              name: t('Difference, points'),
              right: true,
              cell: ({ difference, standard_error }) =>
                difference === null ? '–' : `${points(difference)} ± ${points(standard_error!)}`,
            },
          ]}
        />
        {notableLanguages.map(({ language }) => (
          <p key={language} class="small">
            {t('In {language}, people of equal ability respond differently. Check the translation.', {
              language: languageName(language),
            })}
          </p>
        ))}
      </Panel>
    </>
  )
}

/** Formats a difference of shares in percentage points. */
function points(difference: number): string {
  return `${Math.round(100 * difference)}`.replace('-', '−')
}
