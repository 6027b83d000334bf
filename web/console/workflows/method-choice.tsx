import type { Method } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { FieldError } from '../shared/field-error.tsx'
import { METHOD_LABELS, methodOrder } from '../shared/labels.ts'

interface Props {
  selected: Method[]
  hint: string
  error: string | undefined
  onChange: (methods: Method[]) => void
}

export function MethodChoice({ selected, hint, error, onChange }: Props) {
  return (
    <fieldset class="card stack-tight">
      <legend class="card-legend">{t('Questions, in this order')}</legend>
      {methodOrder.map((method) => (
        <label class="check" key={method}>
          <input
            type="checkbox"
            checked={selected.includes(method)}
            onChange={() => onChange(methodOrder.filter((each) => toggled(selected, method).includes(each)))}
          />
          <span>
            {METHOD_LABELS[method].name} <span class="soft">– {METHOD_LABELS[method].description}</span>
          </span>
        </label>
      ))}
      <p class="soft small">{hint}</p>
      <FieldError text={error} />
    </fieldset>
  )
}

/** Returns the list without the item if it contains it, otherwise with it. */
export function toggled<T>(list: T[], item: T): T[] {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item]
}
