/** A validation error next to the field that it concerns. */
export function FieldError({ text }: { text: string | undefined }) {
  return text ? (
    <p class="field-error small" role="alert">
      {text}
    </p>
  ) : null
}
