/** The style of all pages. */
export const STYLE = `
:root {
  color-scheme: light dark;
  font: 16px/1.5 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  color: light-dark(#1d2329, #e4e8eb);
  background: light-dark(#f5f4f0, #12161a);
}
body { margin: 0; padding: 1.5rem 1rem; }
main {
  box-sizing: border-box;
  max-width: 34rem;
  margin: 0 auto;
  padding: 1.5rem;
  border: 1px solid light-dark(#dedbd3, #2f3841);
  border-radius: 8px;
  background: light-dark(#ffffff, #1a2026);
  overflow-wrap: anywhere;
}
h1 { margin: 0 0 1rem; font-size: 1.35rem; line-height: 1.3; }
p, ul, dl { margin: 0 0 1rem; }
dt { color: light-dark(#565f69, #a2adb8); font-size: 0.875rem; }
dd { margin: 0 0 0.75rem; }
.note { color: light-dark(#855300, #f1bd62); }
form { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 0; }
button {
  font: inherit;
  min-height: 2.75rem;
  padding: 0 1.25rem;
  border: 1px solid light-dark(#858c94, #76818c);
  border-radius: 8px;
  color: inherit;
  background: transparent;
  cursor: pointer;
}
button.main {
  border-color: light-dark(#0a5c67, #79d3da);
  color: light-dark(#ffffff, #08191c);
  background: light-dark(#0a5c67, #79d3da);
}
a { color: light-dark(#0a5c67, #79d3da); }
:focus-visible { outline: 3px solid light-dark(#0a5c67, #79d3da); outline-offset: 2px; }
`
