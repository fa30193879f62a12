/** Small real PDFs, made here: a page for each text, in one of the fonts that every reader knows. */
export function pdfOf(pages: readonly string[]): Buffer {
  const objects: string[] = [];
  const kids = pages.map((_, place) => `${4 + place * 2} 0 R`).join(' ');
  objects.push('<< /Type /Catalog /Pages 2 0 R >>');
  objects.push(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  for (const [place, text] of pages.entries()) {
    const content = text === '' ? '' : `BT /F1 12 Tf 72 720 Td (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + place * 2} 0 R >>`,
    );
    objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  }
  let file = '%PDF-1.4\n';
  const places = objects.map((object, place) => {
    const at = file.length;
    file += `${place + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = places.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n`;
  return Buffer.from(`${file}${end}startxref\n${file.length}\n%%EOF\n`, 'latin1');
}
