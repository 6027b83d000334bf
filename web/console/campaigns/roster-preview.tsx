import { useState } from 'preact/hooks'
import type { CandidateInput } from '../shared/records.ts'
import type { RosterCheck } from './enrolling.ts'
import { MEANINGS, type Meaning, type Roster, type Row } from './roster.ts'

interface Props {
  roster: Roster
  candidates: CandidateInput[]
  check: RosterCheck
  /** What rows say that are left out, for another row is the same person. */
  repeats: Map<number, string>
  onChange: (roster: Roster) => void
}

const PAGE = 50

/** Every row as it will be sent. What the API refuses stands in the row itself, open to be put right. */
export function RosterPreview({ roster, candidates, check, repeats, onChange }: Props) {
  const { names, meanings, rows } = roster
  const [onlyBad, setOnlyBad] = useState(false)
  const [shown, setShown] = useState(PAGE)
  const bad = check.faults.size
  const listed = rows.map((row, index) => ({ row, index })).filter(({ index }) => !onlyBad || check.faults.has(index))
  return (
    <section class="stack" aria-label="Preview">
      <div class="row between">
        <h2>
          {rows.length.toLocaleString()} {rows.length === 1 ? 'row' : 'rows'}
        </h2>
        <span class={bad > 0 ? 'bad-text' : 'soft'} role="status">
          {bad > 0
            ? `${bad} ${bad === 1 ? 'row' : 'rows'} to put right`
            : check.checking
              ? `Checking… ${check.checked.toLocaleString()} of ${rows.length.toLocaleString()}`
              : check.checked > 0 && !check.refusal
                ? `Every row is right${repeats.size > 0 ? `; ${repeatedRows(repeats.size)}` : ''}`
                : ''}
        </span>
      </div>
      {bad > 0 && (
        <div class="row">
          <label class="check">
            <input type="checkbox" checked={onlyBad} onChange={(event) => setOnlyBad(event.currentTarget.checked)} />
            Only rows to put right
          </label>
          <button type="button" class="small-button" onClick={leaveOut}>
            Leave {bad === 1 ? 'it' : `all ${bad}`} out
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
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
                    aria-label={`What “${name}” is`}
                    value={meanings[column]}
                    onChange={(event) => mean(column, event.currentTarget.value as Meaning)}
                  >
                    {(Object.keys(MEANINGS) as Meaning[]).map((meaning) => (
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
                faults={check.faults.get(index)}
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
          <button type="button" class="small-button" onClick={() => setShown(shown + PAGE)}>
            Show more of {listed.length.toLocaleString()}
          </button>
        )}
        <button type="button" class="small-button" onClick={addRow}>
          + Row
        </button>
      </div>
      {!meanings.includes('external_candidate_id') && (
        <p class="soft small">There is no column with your id: candidates are known by their phone or mail address.</p>
      )}
    </section>
  )

  function mean(column: number, meaning: Meaning) {
    const once = meaning !== 'metadata' && meaning !== 'nothing'
    onChange({
      ...roster,
      meanings: meanings.map((before, at) => {
        if (at === column) return meaning
        return once && before === meaning ? 'nothing' : before
      }),
    })
  }

  /** A row that was open for its fault stays open while it is being put right. */
  function setCell(index: number, column: number, value: string) {
    const next = rows.map((row, at) =>
      at === index
        ? { ...row, typed: true, cells: row.cells.map((cell, place) => (place === column ? value : cell)) }
        : row,
    )
    onChange({ ...roster, rows: next })
  }

  function addRow() {
    const number = Math.max(0, ...rows.map((row) => row.number)) + 1
    onChange({ ...roster, rows: [...rows, { number, cells: names.map(() => ''), typed: true }] })
    setShown(Math.max(shown, rows.length + 1))
    setOnlyBad(false)
  }

  function leaveOut() {
    onChange({ ...roster, rows: rows.filter((_, index) => !check.faults.has(index)) })
    setOnlyBad(false)
  }
}

export function repeatedRows(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'row repeats' : 'rows repeat'} another`
}

interface RowProps {
  row: Row
  names: string[]
  meanings: Meaning[]
  sent: CandidateInput | undefined
  faults: { field: string; message: string }[] | undefined
  repeat: string | undefined
  onCell: (column: number, value: string) => void
  onRemove: () => void
}

/** What is to be said about a row stands below it in its whole width, in view wherever the table is moved to. */
function PreviewRow({ row, names, meanings, sent, faults = [], repeat, onCell, onRemove }: RowProps) {
  const bad = faults.length > 0
  const open = row.typed === true || bad
  const columnOf = (field: string) => meanings.indexOf(field.split('.')[0] as Meaning)
  const said = `row-${row.number}-said`
  return (
    <>
      <tr class={bad ? 'bad-row said-below' : repeat ? 'repeat-row said-below' : ''}>
        <td class="soft">{row.number}</td>
        {row.cells.map((cell, column) => {
          const meaning = meanings[column]!
          const wrong = faults.some(({ field }) => columnOf(field) === column)
          return (
            <td key={column} class={meaning === 'nothing' ? 'left-out' : ''}>
              {open ? (
                <input
                  type="text"
                  aria-label={`${names[column]}, row ${row.number}`}
                  aria-invalid={wrong}
                  aria-describedby={wrong ? said : undefined}
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
      {(bad || repeat) && (
        <tr class={`row-said ${bad ? 'bad-row' : 'repeat-row'}`}>
          <td colSpan={names.length + 2}>
            <div id={said} class="small">
              {faults.map(({ field, message }) => (
                <p class="fault" key={field + message}>
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

/** As it is sent: a phone number with its country. */
function shownCell(meaning: Meaning, cell: string, sent: CandidateInput | undefined) {
  if (meaning === 'phone') return sent?.phone ?? cell
  return meaning === 'language' ? (sent?.language ?? cell) : cell
}
