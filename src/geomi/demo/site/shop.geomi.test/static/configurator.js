// The whole page is drawn here; a crawler without a browser sees an empty root.
const root = document.getElementById("root");
root.innerHTML = `
  <main>
    <h1>Design a web</h1>
    <p>Choose a number of spokes and we weave a web for you, by hand, within six weeks.</p>
    <label>Spokes <input type="range" min="8" max="36" value="24"></label>
    <p>A web with twenty-four spokes takes one person a day and a half. More spokes make a calmer web;
    fewer make a more daring one. Both arrive in a flat box with a wooden frame.</p>
    <p><a href="/catalog">Back to everything</a></p>
  </main>`;
