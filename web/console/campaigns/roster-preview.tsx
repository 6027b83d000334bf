import { useState } from 'preact/hooks'
import type { CandidateInput } from '../../api-types/partner.ts'
import type { RosterCheck } from './enrolling.ts'
import { type ColumnMeaning, MEANINGS, type Roster, type RosterRow } from './roster.ts'

interface Props {
  roster: Roster
  candidates: CandidateInput[]
  check: RosterCheck
  /** Messages of rows that are skipped because another row is the same person. */
  repeats: Map<number, string>
  onChange: (roster: Roster) => void
}

const PAGE_SIZE = 50

/** All rows as they will be sent. Rows with errors can be edited. */
export function RosterPreview({ roster, candidates, check, repeats, onChange }: Props) {
  const { names, meanings, rows } = roster
  const [onlyInvalid, setOnlyInvalid] = useState(false)
  const [shown, setShown] = useState(PAGE_SIZE)
  const invalid = check.rowErrors.size
  const listed = rows
    .map((row, index) => ({ row, index }))
    .filter(({ index }) => !onlyInvalid || check.rowErrors.has(index))
  return (
    <section class="stack" aria-label="Preview">
      <div class="row between">
        <h2>
          {rows.length.toLocaleString()} {rows.length === 1 ? 'row' : 'rows'}
        </h2>
        <span class={invalid > 0 ? 'bad-text' : 'soft'} role="status">
          {invalid > 0
            ? `${invalid} ${invalid === 1 ? 'row needs' : 'rows need'} fixing`
            : check.checking
              ? `Checking… ${check.checked.toLocaleString()} of ${rows.length.toLocaleString()}`
              : check.checked > 0 && !check.error
                ? `All rows are valid${repeats.size > 0 ? `; ${repeatedRowsText(repeats.size)}` : ''}`
                : ''}
        </span>
      </div>
      {invalid > 0 && (
        <div class="row">
          <label class="check">
            <input
              type="checkbox"
              checked={onlyInvalid}
              onChange={(event) => setOnlyInvalid(event.currentTarget.checked)}
            />
            Only rows with errors
          </label>
          <button type="button" class="small-button" onClick={skipInvalid}>
            {invalid === 1 ? 'Skip this row' : `Skip all ${invalid}`}
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard */}
      <section class="table-wrap wide-table" tabIndex={0} aria-label="Rows">
        <table class="table plain-table">
          <caption class="hidden-text">Candidates to enrol</caption>
          <thead>
            <tr>
              <th scope="col">Row</th>
              {names.map((name, column) => (
                <th scope="col" key={column}>
                  <span class="soft">{name}</span>
                  <select
                    aria-label={`Meaning of column “${name}”`}
                    value={meanings[column]}
                    onChange={(event) => setMeaning(column, event.currentTarget.value as ColumnMeaning)}
                  >
                    {(Object.keys(MEANINGS) as ColumnMeaning[]).map((meaning) => (
                      <option key={meaning} value={meaning}>
                        {MEANINGS[meaning]}
                      </option>
                    ))}
                  </select>
                </th>
              ))}
              <th scope="col">
                <span class="hidden-text">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.slice(0, shown).map(({ row, index }) => (
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
        {listed.length > shown && (
          <button type="button" class="small-button" onClick={() => setShown(shown + PAGE_SIZE)}>
            Show more (of {listed.length.toLocaleString()})
          </button>
        )}
        <button type="button" class="small-button" onClick={addRow}>
          Add row
        </button>
      </div>
      {!meanings.includes('external_candidate_id') && (
        <p class="soft small">
          There is no column with your ID, so candidates are identified by phone number or email address.
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

  /** Marks the row as typed, so that it stays editable after its error is fixed. */
  function setCell(index: number, column: number, value: string) {
    const next = rows.map((row, at) =>
      at === index
        ? { ...row, typed: true, cells: row.cells.map((cell, cellIndex) => (cellIndex === column ? value : cell)) }
        : row,
    )
    onChange({ ...roster, rows: next })
  }

  function addRow() {
    const number = Math.max(0, ...rows.map((row) => row.number)) + 1
    onChange({ ...roster, rows: [...rows, { number, cells: names.map(() => ''), typed: true }] })
    setShown(Math.max(shown, rows.length + 1))
    setOnlyInvalid(false)
  }

  function skipInvalid() {
    onChange({ ...roster, rows: rows.filter((_, index) => !check.rowErrors.has(index)) })
    setOnlyInvalid(false)
  }
}

export function repeatedRowsText(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'row repeats' : 'rows repeat'} another`
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
  const columnOf = (field: string) => meanings.indexOf(field.split('.')[0] as ColumnMeaning)
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
                  aria-label={`${names[column]}, row ${row.number}`}
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
          <button type="button" class="plain flush" aria-label={`Remove row ${row.number}`} onClick={onRemove}>
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

/** Returns a cell as it is sent: a phone number with its country code. */
function shownCell(meaning: ColumnMeaning, cell: string, sent: CandidateInput | undefined) {
  if (meaning === 'phone') return sent?.phone ?? cell
  return meaning === 'language' ? (sent?.language ?? cell) : cell
}
