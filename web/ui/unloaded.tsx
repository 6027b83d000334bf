/** Stands for a part of a page that is being loaded. Everything that follows it in the same element is hidden, so that it does not move. */
export function Unloaded() {
  return (
    <p class="waiting unloaded" aria-hidden="true">
      {'\u00a0'}
    </p>
  )
}
