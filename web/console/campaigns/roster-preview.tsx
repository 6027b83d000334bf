import { useState } from 'preact/hooks'
import type { CandidateInput } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import type { RosterCheck } from './enrolling.ts'
import { type ColumnMeaning, MEANING_LABELS, type Roster, type RosterRow } from './roster.ts'

interface Props {
  roster: Roster
  candidates: CandidateInput[]
  check: RosterCheck
  /** Messages, by row index, about rows that are skipped because an earlier row is the same person. */
  repeats: Map<number, string>
  onChange: (roster: Roster) => void
}

const PAGE_SIZE = 50

/** The rows of the roster as they will be sent to the API. Rows with errors can be edited. */
export function RosterPreview({ roster, candidates, check, repeats, onChange }: Props) {
  const { names, meanings, rows } = roster
  const [onlyInvalid, setOnlyInvalid] = useState(false)
  const [shownCount, setShown] = useState(PAGE_SIZE)
  const invalidCount = check.rowErrors.size
  const listedRows = rows
    .map((row, index) => ({ row, index }))
    .filter(({ index }) => !onlyInvalid || check.rowErrors.has(index))
  return (
    <section class="stack" aria-label={t('Preview')}>
      <div class="row between">
        <h2>
          {t(rows.length === 1 ? '1 row' : '{count} rows', { count: rows.length.toLocaleString(displayLocale()) })}
        </h2>
        <span class={invalidCount > 0 ? 'bad-text' : 'soft'} role="status">
          {invalidCount > 0
            ? t(invalidCount === 1 ? '1 row has errors' : '{count} rows have errors', {
                count: invalidCount.toLocaleString(displayLocale()),
              })
            : check.checking
              ? t('Checked {checked} of {total} rows…', {
                  checked: check.checked.toLocaleString(displayLocale()),
                  total: rows.length.toLocaleString(displayLocale()),
                })
              : check.checked > 0 && !check.error
                ? t(
                    repeats.size === 0
                      ? 'All rows are valid'
                      : repeats.size === 1
                        ? 'All rows are valid; 1 row repeats another row'
                        : 'All rows are valid; {count} rows repeat another row',
                    { count: repeats.size.toLocaleString(displayLocale()) },
                  )
                : ''}
        </span>
      </div>
      {invalidCount > 0 && (
        <div class="row">
          <label class="check">
            <input
              type="checkbox"
              checked={onlyInvalid}
              onChange={(event) => setOnlyInvalid(event.currentTarget.checked)}
            />
            {t('Show only rows with errors')}
          </label>
          <button type="button" class="small-button" onClick={skipInvalid}>
            {invalidCount === 1
              ? t('Skip the row with errors')
              : t('Skip the {count} rows with errors', { count: invalidCount.toLocaleString(displayLocale()) })}
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard */}
      <section class="table-wrap wide-table" tabIndex={0} aria-label={t('Rows')}>
        <table class="table plain-table">
          <caption class="hidden-text">{t('Candidates to enrol')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('Row')}</th>
              {names.map((name, column) => (
                <th scope="col" key={column}>
                  <span class="soft">{name}</span>
                  <select
                    aria-label={t('Meaning of column “{name}”', { name })}
                    value={meanings[column]}
                    onChange={(event) => setMeaning(column, event.currentTarget.value as ColumnMeaning)}
                  >
                    {(Object.keys(MEANING_LABELS) as ColumnMeaning[]).map((meaning) => (
                      <option key={meaning} value={meaning}>
                        {MEANING_LABELS[meaning]}
                      </option>
                    ))}
                  </select>
                </th>
              ))}
              <th scope="col">
                <span class="hidden-text">{t('Remove')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {listedRows.slice(0, shownCount).map(({ row, index }) => (
              <PreviewRow
                key={row.number}
                row={row}
                names={names}
                meanings={meanings}
                sent={candidates[index]}
                rowErrors={check.rowErrors.get(index)}
                repeat={repeats.get(index)}
                onCell={(column, value) => setCell(index, column, value)}
                onRemove={() => onChange({ ...roster, rows: rows.filter((_, at) => at !== index) })}
              />
            ))}
          </tbody>
        </table>
      </section>
      <div class="row">
        {listedRows.length > shownCount && (
          <button type="button" class="small-button" onClick={() => setShown(shownCount + PAGE_SIZE)}>
            {t('Show more of {count} rows', { count: listedRows.length.toLocaleString(displayLocale()) })}
          </button>
        )}
        <button type="button" class="small-button" onClick={addRow}>
          {t('Add row')}
        </button>
      </div>
      {!meanings.includes('external_candidate_id') && (
        <p class="soft small">
          {t(
            'The file has no column with your candidate IDs, so candidates are identified by phone number or email address.',
          )}
        </p>
      )}
    </section>
  )

  function setMeaning(column: number, meaning: ColumnMeaning) {
    const unique = meaning !== 'metadata' && meaning !== 'nothing'
    onChange({
      ...roster,
      meanings: meanings.map((previous, at) => {
        if (at === column) return meaning
        return unique && previous === meaning ? 'nothing' : previous
      }),
    })
  }

  /** Changes a cell. Marks its row as typed, so that the row stays editable after its error is fixed. */
  function setCell(index: number, column: number, value: string) {
    const changedRows = rows.map((row, at) =>
      at === index
        ? { ...row, typed: true, cells: row.cells.map((cell, cellIndex) => (cellIndex === column ? value : cell)) }
        : row,
    )
    onChange({ ...roster, rows: changedRows })
  }

  function addRow() {
    const rowNumber = Math.max(0, ...rows.map((row) => row.number)) + 1
    onChange({ ...roster, rows: [...rows, { number: rowNumber, cells: names.map(() => ''), typed: true }] })
    setShown(Math.max(shownCount, rows.length + 1))
    setOnlyInvalid(false)
  }

  function skipInvalid() {
    onChange({ ...roster, rows: rows.filter((_, index) => !check.rowErrors.has(index)) })
    setOnlyInvalid(false)
  }
}

interface RowProps {
  row: RosterRow
  names: string[]
  meanings: ColumnMeaning[]
  sent: CandidateInput | undefined
  rowErrors: { field: string; message: string }[] | undefined
  repeat: string | undefined
  onCell: (column: number, value: string) => void
  onRemove: () => void
}

/** A row with its messages below in full width, visible wherever the table is scrolled to. */
function PreviewRow({ row, names, meanings, sent, rowErrors = [], repeat, onCell, onRemove }: RowProps) {
  const hasErrors = rowErrors.length > 0
  const editable = row.typed === true || hasErrors
  const columnOf = (field: string) => {
    const column = meanings.indexOf(field as ColumnMeaning)
    return column < 0 ? meanings.indexOf(field.split('.')[0] as ColumnMeaning) : column
  }
  const messageId = `row-${row.number}-message`
  return (
    <>
      <tr class={hasErrors ? 'bad-row has-message' : repeat ? 'repeat-row has-message' : ''}>
        <td class="soft">{row.number}</td>
        {row.cells.map((cell, column) => {
          const meaning = meanings[column]!
          const invalid = rowErrors.some(({ field }) => columnOf(field) === column)
          return (
            <td key={column} class={meaning === 'nothing' ? 'skipped-column' : ''}>
              {editable ? (
                <input
                  type="text"
                  aria-label={t('{column}, row {number}', { column: names[column], number: row.number })}
                  aria-invalid={invalid}
                  aria-describedby={invalid ? messageId : undefined}
                  value={cell}
                  onInput={(event) => onCell(column, event.currentTarget.value)}
                />
              ) : (
                shownCell(meaning, cell, sent)
              )}
            </td>
          )
        })}
        <td>
          <button
            type="button"
            class="plain flush"
            aria-label={t('Remove row {number}', { number: row.number })}
            onClick={onRemove}
          >
            ×
          </button>
        </td>
      </tr>
      {(hasErrors || repeat) && (
        <tr class={`row-message ${hasErrors ? 'bad-row' : 'repeat-row'}`}>
          <td colSpan={names.length + 2}>
            <div id={messageId} class="small">
              {rowErrors.map(({ field, message }) => (
                <p class="field-error" key={field + message}>
                  {names[columnOf(field)] ?? field}: {message}
                </p>
              ))}
              {repeat && <p>{repeat}</p>}
            </div>
          </td>
        </tr>
      )}
    </>
  )
}

/** Returns the text of a cell as it is sent to the API, for example a phone number with its country code. */
function shownCell(meaning: ColumnMeaning, cell: string, sent: CandidateInput | undefined) {
  if (meaning === 'phone') return sent?.phone ?? cell
  return meaning === 'language' ? (sent?.language ?? cell) : cell
}
