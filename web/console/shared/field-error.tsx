/** What the API says is wrong, right where it is. */
export function Fault({ text }: { text: string | undefined }) {
  return text ? (
    <p class="fault small" role="alert">
      {text}
    </p>
  ) : null
}
