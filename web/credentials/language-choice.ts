/** Opens the page in another language as soon as it is chosen. Without the script, the form has a button. */
export function submitLanguageChoice(): void {
  const form = document.querySelector<HTMLFormElement>('form#language')
  form?.addEventListener('change', () => form.submit())
}
